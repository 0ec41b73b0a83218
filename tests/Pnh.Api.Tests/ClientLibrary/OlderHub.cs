using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Pnh.Api.Tests.ClientLibrary;

/// <summary>A hub as it was before hellos had <c>knows</c>: it stands in front of one of today and takes the member out. One client.</summary>
internal sealed class OlderHub(Uri hub) : IAsyncDisposable
{
    private readonly CancellationTokenSource _stopping = new();
    private readonly TcpListener _listener = Listen();
    private Task _carrying = Task.CompletedTask;

    public Uri Address => new($"ws://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}/v1/socket");

    public void Start() => _carrying = CarryAsync();

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        _listener.Stop();
        await _carrying.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _stopping.Dispose();
    }

    private static TcpListener Listen()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return listener;
    }

    private async Task CarryAsync()
    {
        using var near = await _listener.AcceptTcpClientAsync(_stopping.Token);
        await using var stream = near.GetStream();
        var head = new byte[16 * 1024];
        var length = 0;
        while (!head.AsSpan(0, length).EndsWith("\r\n\r\n"u8))
        {
            length += await stream.ReadAsync(head.AsMemory(length), _stopping.Token);
        }

        var key = Encoding.ASCII.GetString(head, 0, length).Split("\r\n").First(static line => line.StartsWith("Sec-WebSocket-Key: ", StringComparison.OrdinalIgnoreCase))[19..];
#pragma warning disable CA5350 // RFC 6455 section 4.2.2
        var answer = Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")));
#pragma warning restore CA5350
        await stream.WriteAsync(Encoding.ASCII.GetBytes(
            $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: pnh.v1\r\nSec-WebSocket-Accept: {answer}\r\n\r\n"), _stopping.Token);
        using var client = WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = true });
        using var far = new ClientWebSocket();
        await far.ConnectAsync(new UriBuilder(hub) { Scheme = "ws", Path = "/v1/socket" }.Uri, _stopping.Token);
        await Task.WhenAny(CopyAsync(client, far, isHello: true), CopyAsync(far, client, isHello: false));
    }

    private async Task CopyAsync(WebSocket from, WebSocket to, bool isHello)
    {
        var buffer = new byte[64 * 1024];
        while (await from.ReceiveAsync(buffer, _stopping.Token) is { MessageType: WebSocketMessageType.Text } frame)
        {
            var message = buffer.AsMemory(0, frame.Count);
            if (isHello)
            {
                var hello = JsonNode.Parse(message.Span)!.AsObject();
                Assert.True(hello.Remove("knows"));
                Assert.True(hello["beat"]!.GetValue<bool>()); // a number is no protocol there
                message = JsonSerializer.SerializeToUtf8Bytes(hello);
                isHello = false;
            }

            await to.SendAsync(message, WebSocketMessageType.Text, endOfMessage: true, _stopping.Token);
        }
    }
}
