using System.Net.WebSockets;
using System.Text;
using System.Text.Json;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The framework's client, speaking JSON with bounded waits.</summary>
internal sealed class SocketClient : IDisposable
{
    private readonly byte[] _buffer = new byte[256 * 1024];

    public ClientWebSocket Socket { get; } = new();

    public static async Task<SocketClient> ConnectAsync(int port)
    {
        var client = new SocketClient();
        client.Socket.Options.SetRequestHeader("User-Agent", "pnh-test/1");
        client.Socket.Options.AddSubProtocol("pnh.v1");
        await client.Socket.ConnectAsync(new Uri($"ws://127.0.0.1:{port}/v1/socket"), CancellationToken.None).WaitAsync(SocketHost.Patience);
        return client;
    }

    public Task HelloAsync(string device, string token, string state = "active") =>
        SendAsync(JsonSerializer.Serialize(new { type = "hello", token, device, state }));

    /// <summary>Asks for a session again; the welcome tells what came of it.</summary>
    public async Task<(string Session, long Seq, bool Resumed)> ResumeAsync(string session, long seq, string device = "tab-1", string token = "ada-token")
    {
        await SendResumeAsync(session, seq, device, token);
        var welcome = await ReadAsync("welcome");
        return (welcome.GetProperty("session").GetString()!, welcome.GetProperty("seq").GetInt64(), welcome.GetProperty("resumed").GetBoolean());
    }

    /// <summary>The hello that asks to go on, without its answer.</summary>
    public Task SendResumeAsync(string session, long seq, string device = "tab-1", string token = "ada-token") =>
        SendAsync(JsonSerializer.Serialize(new { type = "hello", token, device, resume = new { session, seq } }));

    /// <summary>The next frames: (seq, event id or type and event id).</summary>
    public async Task<List<(long Seq, string Id)>> ReadFramesAsync(int count)
    {
        var frames = new List<(long, string)>();
        while (frames.Count < count)
        {
            var frame = (await ReadAsync())!.Value;
            var type = frame.GetProperty("type").GetString();
            var id = frame.GetProperty("id").GetString();
            frames.Add((frame.GetProperty("seq").GetInt64(), type == "event" ? id! : $"{type} {id}"));
        }

        return frames;
    }

    /// <summary>Drops the TCP connection without a close frame.</summary>
    public void Lose() => Socket.Abort();

    public Task AckAsync(long seq) => SendAsync($$"""{"type":"ack","seq":{{seq}}}""");

    public Task SendAsync(string text) => SendAsync(Encoding.UTF8.GetBytes(text), WebSocketMessageType.Text);

    public async Task SendAsync(byte[] bytes, WebSocketMessageType type, bool isLast = true) =>
        await Socket.SendAsync(bytes, type, isLast, CancellationToken.None).WaitAsync(SocketHost.Patience);

    /// <summary>The next frame, which must be of this type.</summary>
    public async Task<JsonElement> ReadAsync(string type)
    {
        var frame = await ReadAsync();
        Assert.NotNull(frame);
        Assert.Equal(type, frame.Value.GetProperty("type").GetString());
        return frame.Value;
    }

    /// <summary>The next frame; null = the close frame.</summary>
    public async Task<JsonElement?> ReadAsync()
    {
        var length = 0;
        while (true)
        {
            var result = await Socket.ReceiveAsync(_buffer.AsMemory(length), CancellationToken.None).AsTask().WaitAsync(SocketHost.Patience);
            if (result.MessageType == WebSocketMessageType.Close)
            {
                return null;
            }

            length += result.Count;
            if (result.EndOfMessage)
            {
                return JsonDocument.Parse(_buffer.AsMemory(0, length).ToArray()).RootElement;
            }
        }
    }

    /// <summary>Reads on until the server closes; the code, and the code of the last error frame (null = none).</summary>
    public async Task<(int Close, string? Error)> ReadCloseAsync()
    {
        string? error = null;
        while (await ReadAsync() is { } frame)
        {
            if (frame.GetProperty("type").GetString() == "error")
            {
                error = frame.GetProperty("code").GetString();
            }
        }

        var code = (int)Socket.CloseStatus!.Value;
        await Socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, "", CancellationToken.None).WaitAsync(SocketHost.Patience);
        return (code, error);
    }

    public void Dispose() => Socket.Dispose();
}
