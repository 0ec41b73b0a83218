using System.Buffers.Binary;
using System.Buffers.Text;
using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Pnh.LoadTest.Overload;

/// <summary>
/// One WebSocket session (RFC 6455) that says hello, acknowledges what each read brought in one ack, and tells when its frames were due. Comes back when it is closed.
/// </summary>
internal sealed class LoadSession
{
    private readonly LoadOptions _options;
    private readonly string _user;
    private readonly string _token;
    private readonly Action<int, long> _delivered;
    private readonly byte[] _bytes = new byte[64 * 1024];
    private int _filled;

    public LoadSession(LoadOptions options, string user, string token, Action<int, long> delivered)
    {
        _options = options;
        _user = user;
        _token = token;
        _delivered = delivered;
    }

    /// <summary>Times that it was closed by the hub.</summary>
    public int Closed { get; private set; }

    /// <summary>Completes with the first welcome.</summary>
    public TaskCompletionSource Welcomed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public async Task RunAsync(CancellationToken cancellationToken)
    {
        while (!cancellationToken.IsCancellationRequested)
        {
            try
            {
                using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
                await socket.ConnectAsync(_options.Host, _options.Port, cancellationToken);
                await OpenAsync(socket, cancellationToken);
                await ReadAsync(socket, cancellationToken);
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (Exception fault) when (fault is SocketException or InvalidDataException)
            {
                Closed++;
                await Task.Delay(TimeSpan.FromMilliseconds(200), cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }
        }
    }

    private async Task OpenAsync(Socket socket, CancellationToken cancellationToken)
    {
        await socket.SendAsync(
            Encoding.ASCII.GetBytes(
                $"GET /v1/socket HTTP/1.1\r\nHost: {_options.Host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"),
            cancellationToken);
        _filled = 0;
        int end;
        while ((end = _bytes.AsSpan(0, _filled).IndexOf("\r\n\r\n"u8)) < 0)
        {
            _filled += await ReceiveAsync(socket, cancellationToken);
        }

        if (!_bytes.AsSpan().StartsWith("HTTP/1.1 101"u8))
        {
            throw new InvalidDataException("no upgrade");
        }

        _filled -= end + 4;
        _bytes.AsSpan(end + 4, _filled).CopyTo(_bytes);
        await SendAsync(socket, 0x1, $$"""{"type":"hello","token":"{{_token}}","device":"{{_user}}","state":"active"}""", cancellationToken);
    }

    private async Task ReadAsync(Socket socket, CancellationToken cancellationToken)
    {
        while (true)
        {
            _filled += await ReceiveAsync(socket, cancellationToken);
            var (used, seq, ping) = Take();
            _filled -= used;
            _bytes.AsSpan(used, _filled).CopyTo(_bytes);
            if (ping)
            {
                await SendAsync(socket, 0xA, "", cancellationToken);
            }

            if (seq > 0)
            {
                await SendAsync(socket, 0x1, string.Create(CultureInfo.InvariantCulture, $$"""{"type":"ack","seq":{{seq}}}"""), cancellationToken);
            }
        }
    }

    /// <summary>Reads all whole frames: how many bytes they had, the last seq (0 = none), and whether one was a ping.</summary>
    private (int Used, long Seq, bool Ping) Take()
    {
        var (used, seq, ping) = (0, 0L, false);
        while (true)
        {
            var rest = _bytes.AsSpan(used, _filled - used);
            if (rest.Length < 2)
            {
                return (used, seq, ping);
            }

            var (header, length) = (rest[1] & 0x7F) switch
            {
                126 => (4, rest.Length < 4 ? int.MaxValue : BinaryPrimitives.ReadUInt16BigEndian(rest[2..])),
                127 => throw new InvalidDataException("a frame larger than 64 kB"),
                var small => (2, small),
            };
            if (length > rest.Length - header)
            {
                return (used, seq, ping);
            }

            switch (rest[0] & 0x0F)
            {
                case 0x1:
                    seq = Math.Max(seq, Read(rest.Slice(header, length)));
                    break;
                case 0x8:
                    throw new InvalidDataException("closed");
                case 0x9:
                    ping = true;
                    break;
            }

            used += header + length;
        }
    }

    /// <summary>The frame's seq; 0 = not an event.</summary>
    private long Read(ReadOnlySpan<byte> frame)
    {
        if (frame.IndexOf("\"type\":\"event\""u8) < 0)
        {
            Welcomed.TrySetResult();
            return 0;
        }

        var at = frame.IndexOf(Encoding.ASCII.GetBytes(EventRequest.TimeMember));
        if (at >= 0 && Utf8Parser.TryParse(frame.Slice(at + EventRequest.TimeMember.Length, EventRequest.TimeDigits), out long due, out _))
        {
            _delivered(ClassOf(frame), due);
        }

        return Utf8Parser.TryParse(frame[(frame.IndexOf("\"seq\":"u8) + 6)..], out long seq, out _) ? seq : 0;
    }

    private static int ClassOf(ReadOnlySpan<byte> frame)
    {
        var first = (char)frame[frame.IndexOf("\"class\":\""u8) + 9];
        return Array.FindIndex(Mix.Classes, name => name[0] == first);
    }

    private async ValueTask<int> ReceiveAsync(Socket socket, CancellationToken cancellationToken)
    {
        var read = await socket.ReceiveAsync(_bytes.AsMemory(_filled), cancellationToken);
        return read > 0 ? read : throw new InvalidDataException("closed");
    }

    private static async ValueTask SendAsync(Socket socket, byte kind, string text, CancellationToken cancellationToken)
    {
        var payload = Encoding.UTF8.GetBytes(text);

        // Masked, as a client must; a mask of zeros leaves the bytes as they are.
        byte[] head = payload.Length < 126
            ? [(byte)(0x80 | kind), (byte)(0x80 | payload.Length), 0, 0, 0, 0]
            : [(byte)(0x80 | kind), 0x80 | 126, (byte)(payload.Length >> 8), (byte)payload.Length, 0, 0, 0, 0];
        await socket.SendAsync((byte[])[.. head, .. payload], cancellationToken);
    }
}
