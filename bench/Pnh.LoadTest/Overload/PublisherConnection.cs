using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Pnh.LoadTest.Overload;

/// <summary>One keep-alive connection with one request under way at most. Not thread-safe: the pool hands it to one send at a time.</summary>
internal sealed class PublisherConnection : IDisposable
{
    private readonly LoadOptions _options;
    private readonly byte[] _request;
    private readonly byte[] _answer = new byte[4 * 1024];
    private readonly long[] _heldUntil = new long[Mix.Classes.Length];
    private Socket? _socket;

    public PublisherConnection(LoadOptions options, int requestBytes)
    {
        _options = options;
        _request = new byte[requestBytes];
    }

    /// <summary>Opened ahead, so that no phase measures a handshake.</summary>
    public async ValueTask ConnectAsync()
    {
        _socket?.Dispose();
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await _socket.ConnectAsync(_options.Host, _options.Port);
    }

    /// <summary>True while a refusal's Retry-After asks this publisher to keep the class back.</summary>
    public bool Holds(int @class, long now) => now < _heldUntil[@class];

    /// <summary>Keeps the class back for so many seconds from now.</summary>
    public void Hold(int @class, int seconds) => _heldUntil[@class] = Stopwatch.GetTimestamp() + (seconds * Stopwatch.Frequency);

    /// <summary>Sends one event; RetryAfter is -1 without the header; the status is 0 when the connection broke, and a new one is opened then.</summary>
    public async ValueTask<(int Status, int RetryAfter, long Written)> SendAsync(EventRequest request, long number, int user, long due)
    {
        request.Write(_request, number, user, due);
        var written = Stopwatch.GetTimestamp();
        try
        {
            await _socket!.SendAsync(_request.AsMemory(0, request.Length));
            var (status, retryAfter) = await ReceiveAsync();
            return (status, retryAfter, written);
        }
        catch (SocketException)
        {
            await TryConnectAsync();
            return (0, -1, written);
        }
        catch (InvalidDataException)
        {
            await TryConnectAsync();
            return (0, -1, written);
        }
    }

    public void Dispose() => _socket?.Dispose();

    private async ValueTask TryConnectAsync()
    {
        try
        {
            await ConnectAsync();
        }
        catch (SocketException)
        {
            // The hub takes no connection now: the next send finds out again.
        }
    }

    private async ValueTask<(int Status, int RetryAfter)> ReceiveAsync()
    {
        var filled = 0;
        while (true)
        {
            var read = await _socket!.ReceiveAsync(_answer.AsMemory(filled));
            if (read == 0)
            {
                throw new InvalidDataException("closed");
            }

            filled += read;
            if (TryRead(_answer.AsSpan(0, filled)) is { } answer)
            {
                return answer;
            }
        }
    }

    /// <summary>Null while the answer is not complete. Every answer of the hub has a Content-Length.</summary>
    private static (int Status, int RetryAfter)? TryRead(ReadOnlySpan<byte> bytes)
    {
        var end = bytes.IndexOf("\r\n\r\n"u8);
        if (end < 0)
        {
            return null;
        }

        var head = bytes[..end];
        var status = ((head[9] - '0') * 100) + ((head[10] - '0') * 10) + (head[11] - '0');
        var length = Number(head, "\r\nContent-Length: "u8);
        if (length < 0)
        {
            throw new InvalidDataException($"no Content-Length: {Encoding.ASCII.GetString(head)}");
        }

        return bytes.Length < end + 4 + length ? null : (status, Number(head, "\r\nRetry-After: "u8));
    }

    /// <summary>A header's whole number; -1 = no such header.</summary>
    private static int Number(ReadOnlySpan<byte> head, ReadOnlySpan<byte> name)
    {
        var at = head.IndexOf(name);
        if (at < 0)
        {
            return -1;
        }

        var digits = head[(at + name.Length)..];
        var end = digits.IndexOfAnyExceptInRange((byte)'0', (byte)'9');
        return int.Parse(end < 0 ? digits : digits[..end], NumberStyles.None, CultureInfo.InvariantCulture);
    }
}
