using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Pnh.Api.Tests.Bench;

/// <summary>
/// What the load tester calls a channel peer: a WebSocket on <c>/sub/name</c>, a POST to <c>/pub/name</c>. It answers and delivers as a test wants, so wrongly too.
/// </summary>
internal sealed class StubServer : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly CancellationTokenSource _stop = new();
    private readonly ConcurrentDictionary<string, NetworkStream> _sessions = new(StringComparer.Ordinal);
    private readonly Func<int, Reaction> _react;
    private readonly Task _accepting;
    private int _posts;

    /// <param name="react">What happens to the n-th POST, from 1.</param>
    public StubServer(Func<int, Reaction> react)
    {
        _react = react;
        _listener.Start();
        _accepting = AcceptAsync();
    }

    public string Port => ((IPEndPoint)_listener.LocalEndpoint).Port.ToString(CultureInfo.InvariantCulture);

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        _listener.Stop();
        await _accepting;
        _stop.Dispose();
    }

    private async Task AcceptAsync()
    {
        var serving = new List<Task>();
        try
        {
            while (true)
            {
                serving.Add(ServeAsync(await _listener.AcceptTcpClientAsync(_stop.Token)));
            }
        }
        catch (OperationCanceledException)
        {
            await Task.WhenAll(serving);
        }
    }

    private async Task ServeAsync(TcpClient client)
    {
        using var _ = client;
        var stream = client.GetStream();
        var reader = new StreamReader(stream, Encoding.ASCII);
        try
        {
            while (await ReadRequestAsync(reader) is var (line, body))
            {
                await AnswerAsync(stream, line.Split(' ')[1], body);
            }
        }
        catch (Exception fault) when (fault is IOException or OperationCanceledException)
        {
            // The tool, or the test, has ended.
        }
    }

    private async Task AnswerAsync(NetworkStream stream, string path, string body)
    {
        var name = path.Split('/')[^1];
        if (path.StartsWith("/sub/", StringComparison.Ordinal))
        {
            _sessions[name] = stream;
            await stream.WriteAsync("HTTP/1.1 101 Switching Protocols\r\n\r\n"u8.ToArray(), _stop.Token);
            return;
        }

        var reaction = _react(Interlocked.Increment(ref _posts));
        for (var i = 0; i < reaction.Times; i++)
        {
            await _sessions[name].WriteAsync(Frame(body), _stop.Token);
        }

        await stream.WriteAsync(Encoding.ASCII.GetBytes($"HTTP/1.1 {reaction.Status} X\r\nContent-Length: 0\r\n\r\n"), _stop.Token);
    }

    private async Task<(string Line, string Body)?> ReadRequestAsync(StreamReader reader)
    {
        var line = await reader.ReadLineAsync(_stop.Token);
        var length = 0;
        for (var header = line; !string.IsNullOrEmpty(header); header = await reader.ReadLineAsync(_stop.Token))
        {
            length = header.StartsWith("Content-Length: ", StringComparison.Ordinal) ? int.Parse(header[16..], CultureInfo.InvariantCulture) : length;
        }

        var body = new char[length];
        _ = length > 0 ? await reader.ReadBlockAsync(body, _stop.Token) : 0; // asked for nothing it would still wait for something
        return line is null ? null : (line, new string(body));
    }

    private static byte[] Frame(string text)
    {
        byte[] frame = [0x81, 126, 0, 0, .. Encoding.ASCII.GetBytes(text)];
        BinaryPrimitives.WriteUInt16BigEndian(frame.AsSpan(2), (ushort)text.Length);
        return frame;
    }

    /// <param name="Status">Of the answer.</param>
    /// <param name="Times">How often the event is delivered.</param>
    internal readonly record struct Reaction(int Status, int Times);
}
