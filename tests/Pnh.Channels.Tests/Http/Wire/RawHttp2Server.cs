using System.Buffers.Binary;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using System.Threading.Channels;

namespace Pnh.Channels.Tests.Http.Wire;

/// <summary>A frame as it came. Streams 0 and type 0x7 (GOAWAY), … by RFC 9113 section 6.</summary>
internal sealed record RawFrame(byte Type, byte Flags, int Stream, byte[] Payload);

/// <summary>
/// An HTTP/2 server that does nothing by itself but acknowledge SETTINGS and PING: a test writes each frame, so it can do what no framework's server
/// would. One connection at a time is handed out by <see cref="AcceptAsync"/>.
/// </summary>
internal sealed class RawHttp2Server : IAsyncDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Channel<SslStream> _accepted = Channel.CreateUnbounded<SslStream>();
    private readonly List<IAsyncDisposable> _open = [];
    private readonly Task _accepting;
    private readonly Task _handshakes;
    private readonly TaskCompletionSource _dialled = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <param name="handshakes">Every TLS handshake waits for it; null = none does.</param>
    public RawHttp2Server(Task? handshakes = null)
    {
        _handshakes = handshakes ?? Task.CompletedTask;
        _listener.Start();
        Address = new Uri($"https://localhost:{((IPEndPoint)_listener.LocalEndpoint).Port}");
        _accepting = AcceptAllAsync();
    }

    public Uri Address { get; }

    /// <summary>Completes with the first TCP connection.</summary>
    public Task Dialled => _dialled.Task;

    /// <summary>The next connection, once the client's preface is there. <paramref name="maxStreams"/> goes into our SETTINGS; null = they name none.</summary>
    public async Task<RawHttp2Peer> AcceptAsync(uint? maxStreams = 100)
    {
        var peer = new RawHttp2Peer(await _accepted.Reader.ReadAsync().AsTask().WaitAsync(Sample.Limit));
        await peer.StartAsync(maxStreams);
        return peer;
    }

    /// <summary>The same without a word of ours: <see cref="RawHttp2Peer.StartAsync"/> or <see cref="RawHttp2Peer.ReadToEndAsync"/> come next.</summary>
    public async Task<RawHttp2Peer> AcceptSilentAsync() => new(await _accepted.Reader.ReadAsync().AsTask().WaitAsync(Sample.Limit));

    public async ValueTask DisposeAsync()
    {
        _listener.Stop();
        await _accepting;
        _accepted.Writer.TryComplete();
        foreach (var stream in _open)
        {
            await stream.DisposeAsync();
        }
    }

    private async Task AcceptAllAsync()
    {
        try
        {
            while (true)
            {
                var socket = await _listener.AcceptSocketAsync();
                var stream = new SslStream(new NetworkStream(socket, ownsSocket: true));
                _open.Add(stream);
                _dialled.TrySetResult();
                await _handshakes;
                await stream.AuthenticateAsServerAsync(new SslServerAuthenticationOptions
                {
                    ServerCertificate = TestAuthority.Localhost,
                    ApplicationProtocols = [SslApplicationProtocol.Http2],
                });
                _accepted.Writer.TryWrite(stream);
            }
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException or IOException)
        {
            // The listener was stopped.
        }
    }
}

/// <summary>One connection of <see cref="RawHttp2Server"/>.</summary>
internal sealed class RawHttp2Peer(SslStream stream) : IAsyncDisposable
{
    public const byte Data = 0x0, Headers = 0x1, Reset = 0x3, Settings = 0x4, Ping = 0x6, GoAway = 0x7, WindowUpdate = 0x8;
    public const byte EndStream = 0x1, EndHeaders = 0x4, Ack = 0x1;

    private readonly Channel<RawFrame> _frames = Channel.CreateUnbounded<RawFrame>();
    private readonly SemaphoreSlim _writing = new(1);
    private Task? _reading;

    public async Task StartAsync(uint? maxStreams)
    {
        var preface = new byte[24];
        await stream.ReadExactlyAsync(preface).AsTask().WaitAsync(Sample.Limit);
        Assert.Equal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Encoding.ASCII.GetString(preface));
        await WriteSettingsAsync(maxStreams);
        _reading = ReadAsync();
    }

    /// <summary>Everything that the client sends, preface included, until it ends the connection: the types of its frames.</summary>
    public async Task<List<byte>> ReadToEndAsync()
    {
        using var all = new MemoryStream();
        try
        {
            await stream.CopyToAsync(all).WaitAsync(Sample.Limit);
        }
        catch (IOException)
        {
            // Its end may be a reset.
        }

        var (bytes, types) = (all.ToArray(), new List<byte>());
        for (var at = 24; at + 9 <= bytes.Length; at += 9 + ((bytes[at] << 16) | (bytes[at + 1] << 8) | bytes[at + 2]))
        {
            types.Add(bytes[at + 3]);
        }

        return types;
    }

    /// <summary>SETTINGS with MAX_CONCURRENT_STREAMS, or empty.</summary>
    public Task WriteSettingsAsync(uint? maxStreams)
    {
        var payload = new byte[maxStreams is null ? 0 : 6];
        if (maxStreams is { } streams)
        {
            payload[1] = 0x3;
            BinaryPrimitives.WriteUInt32BigEndian(payload.AsSpan(2), streams);
        }

        return WriteAsync(Settings, 0, 0, payload);
    }

    /// <summary>The next HEADERS: the stream of the next request.</summary>
    public async Task<int> NextRequestAsync() => (await NextAsync(Headers)).Stream;

    /// <summary>The next frame of this type; others before it are passed over.</summary>
    public async Task<RawFrame> NextAsync(byte type)
    {
        using var limit = new CancellationTokenSource(Sample.Limit);
        while (true)
        {
            var frame = await _frames.Reader.ReadAsync(limit.Token);
            if (frame.Type == type && (frame.Flags & Ack) == 0 | type is Headers or Data)
            {
                return frame;
            }
        }
    }

    /// <summary>HEADERS with <c>:status: 200</c> (RFC 7541 Appendix A, index 8) and END_STREAM.</summary>
    public Task AnswerAsync(int stream) => WriteAsync(Headers, EndStream | EndHeaders, stream, [0x88]);

    public Task ResetAsync(int stream, uint code)
    {
        var payload = new byte[4];
        BinaryPrimitives.WriteUInt32BigEndian(payload, code);
        return WriteAsync(Reset, 0, stream, payload);
    }

    public Task GoAwayAsync(int lastStream, uint code, string debug = "")
    {
        var payload = new byte[8 + debug.Length];
        BinaryPrimitives.WriteInt32BigEndian(payload, lastStream);
        BinaryPrimitives.WriteUInt32BigEndian(payload.AsSpan(4), code);
        Encoding.ASCII.GetBytes(debug, payload.AsSpan(8));
        return WriteAsync(GoAway, 0, 0, payload);
    }

    public async Task WriteAsync(byte type, byte flags, int streamId, byte[] payload)
    {
        var frame = new byte[9 + payload.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame, payload.Length << 8);
        frame[3] = type;
        frame[4] = flags;
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), streamId);
        payload.CopyTo(frame, 9);
        await WriteAsync(frame);
    }

    /// <summary>Any bytes, as they are.</summary>
    public async Task WriteAsync(byte[] bytes)
    {
        await _writing.WaitAsync();
        try
        {
            await stream.WriteAsync(bytes).AsTask().WaitAsync(Sample.Limit);
        }
        finally
        {
            _writing.Release();
        }
    }

    /// <summary>Ends the connection without a word.</summary>
    public async ValueTask DisposeAsync()
    {
        await stream.DisposeAsync();
        if (_reading is not null)
        {
            await _reading;
        }
    }

    private async Task ReadAsync()
    {
        try
        {
            var header = new byte[9];
            while (true)
            {
                await stream.ReadExactlyAsync(header);
                var payload = new byte[(header[0] << 16) | (header[1] << 8) | header[2]];
                await stream.ReadExactlyAsync(payload);
                var frame = new RawFrame(header[3], header[4], BinaryPrimitives.ReadInt32BigEndian(header.AsSpan(5)), payload);
                if (frame is { Type: Settings or Ping } && (frame.Flags & Ack) == 0)
                {
                    await WriteAsync(frame.Type, Ack, 0, frame.Type == Ping ? payload : []);
                }

                _frames.Writer.TryWrite(frame);
            }
        }
        catch (Exception exception) when (exception is IOException or ObjectDisposedException or SocketException)
        {
            _frames.Writer.TryComplete();
        }
    }
}
