using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;

namespace Pnh.Channels.Tests.Http2;

/// <summary>A frame as it came.</summary>
internal sealed record ReceivedFrame(Http2FrameHeader Header, byte[] Payload)
{
    public FrameType Type => Header.Type;

    public int Stream => Header.Stream;

    public bool IsAck => Header.Has(FrameFlags.EndStreamOrAck);

    public uint Number(int at = 0) => BinaryPrimitives.ReadUInt32BigEndian(Payload.AsSpan(at));
}

/// <summary>The other end of a connection, frame by frame: does nothing on its own, so that a test says everything the server does.</summary>
internal sealed class Http2Peer : IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private readonly NetworkStream _stream;
    private readonly CancellationTokenSource _patience = new(Patience);

    private bool _isSettled;
    private bool _headersEnd;

    private Http2Peer(NetworkStream stream) => _stream = stream;

    public HpackDecoder Decoder { get; } = new(65_536, 65_536);

    /// <summary>A connection over loopback TCP, clear text, and its peer. The client's preface and SETTINGS are read, ours are sent unless null.</summary>
    public static async Task<(Http2Connection Connection, Http2Peer Peer)> ConnectAsync(
        Http2Limits? limits = null, TimeProvider? time = null, IConnectionObserver? observer = null, (SettingId Id, uint Value)[]? settings = null, bool silent = false)
    {
        var (client, server) = await StreamsAsync();
        var connection = Http2Connection.Start(
            client, new ConnectionOptions { Origin = new Uri("http://localhost") }, observer ?? new Observed(), time ?? TimeProvider.System, limits ?? Http2Limits.Default);
        var peer = new Http2Peer(server);
        var preface = new byte[24];
        await peer._stream.ReadExactlyAsync(preface, peer._patience.Token);
        Assert.Equal("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Encoding.ASCII.GetString(preface));
        Assert.Equal(FrameType.Settings, (await peer.ReadAsync()).Type);
        Assert.Equal(FrameType.WindowUpdate, (await peer.ReadAsync()).Type);
        peer._isSettled = true;
        if (!silent)
        {
            await peer.SettingsAsync(settings ?? []);
            await peer.ReadAsync(FrameType.Settings);
        }

        return (connection, peer);
    }

    public static async Task<(NetworkStream Client, NetworkStream Server)> StreamsAsync()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(listener.LocalEndpoint);
        var accepted = await listener.AcceptSocketAsync();
        accepted.NoDelay = true;
        return (new NetworkStream(socket, ownsSocket: true), new NetworkStream(accepted, ownsSocket: true));
    }

    /// <summary>Sum of the connection's window updates that came.</summary>
    public long GivenBack { get; private set; }

    public async Task<ReceivedFrame> ReadAsync()
    {
        var header = new byte[Http2FrameHeader.Size];
        await _stream.ReadExactlyAsync(header, _patience.Token);
        var frame = Http2FrameHeader.Read(header);
        var payload = new byte[frame.Length];
        await _stream.ReadExactlyAsync(payload, _patience.Token);
        var received = new ReceivedFrame(frame, payload);
        GivenBack += frame is { Type: FrameType.WindowUpdate, Stream: 0 } && _isSettled ? received.Number() : 0;
        return received;
    }

    /// <summary>The next frame of that type; others before it are dropped, which may only be ones the test does not care for.</summary>
    public async Task<ReceivedFrame> ReadAsync(FrameType type)
    {
        while (true)
        {
            var frame = await ReadAsync();
            if (frame.Type == type)
            {
                return frame;
            }
        }
    }

    /// <summary>The next request: its headers as lines, its whole body.</summary>
    public async Task<(int Stream, List<string> Headers, byte[] Body)> ReadRequestAsync()
    {
        var (stream, headers) = await ReadHeadersAsync();
        List<byte> body = [];
        while (!_headersEnd)
        {
            var frame = await ReadAsync();
            Assert.Equal((FrameType.Data, stream), (frame.Type, frame.Stream));
            body.AddRange(frame.Payload);
            _headersEnd = frame.IsAck;
        }

        return (stream, headers, [.. body]);
    }

    /// <summary>The next request's headers, in as many frames as they come.</summary>
    public async Task<(int Stream, List<string> Headers)> ReadHeadersAsync()
    {
        var frame = await ReadAsync(FrameType.Headers);
        var stream = frame.Stream;
        _headersEnd = frame.IsAck;
        List<byte> block = [.. frame.Payload];
        while (!frame.Header.Has(FrameFlags.EndHeaders))
        {
            frame = await ReadAsync();
            Assert.Equal((FrameType.Continuation, stream), (frame.Type, frame.Stream));
            block.AddRange(frame.Payload);
        }

        var headers = new HeaderLines();
        Assert.Equal(HpackResult.Decoded, Decoder.Decode(block.ToArray(), headers));
        return (stream, headers.Lines);
    }

    public async Task WriteAsync(ReadOnlyMemory<byte> bytes) => await _stream.WriteAsync(bytes, _patience.Token);

    public Task WriteAsync(FrameType type, FrameFlags flags, int stream, byte[] payload)
    {
        var buffer = new FrameBuffer(64);
        buffer.AppendFrame(type, flags, stream, payload);
        return WriteAsync(buffer.Memory);
    }

    public Task WriteAsync(FrameType type, int stream, uint number)
    {
        var buffer = new FrameBuffer(64);
        buffer.AppendFrame(type, stream, number);
        return WriteAsync(buffer.Memory);
    }

    public Task SettingsAsync(params (SettingId Id, uint Value)[] settings)
    {
        var payload = new byte[settings.Length * 6];
        for (var i = 0; i < settings.Length; i++)
        {
            BinaryPrimitives.WriteUInt16BigEndian(payload.AsSpan(i * 6), (ushort)settings[i].Id);
            BinaryPrimitives.WriteUInt32BigEndian(payload.AsSpan((i * 6) + 2), settings[i].Value);
        }

        return WriteAsync(FrameType.Settings, FrameFlags.None, 0, payload);
    }

    /// <summary>An answer of these header lines and an optional body.</summary>
    public async Task AnswerAsync(int stream, string? body = null, params string[] headers)
    {
        await HeadersAsync(stream, ends: body is null, headers.Length == 0 ? [":status: 200"] : headers);
        if (body is not null)
        {
            await WriteAsync(FrameType.Data, FrameFlags.EndStreamOrAck, stream, Encoding.UTF8.GetBytes(body));
        }
    }

    public Task HeadersAsync(int stream, bool ends, params string[] headers) => WriteAsync(
        FrameType.Headers, FrameFlags.EndHeaders | (ends ? FrameFlags.EndStreamOrAck : FrameFlags.None), stream, Block(headers));

    public Task GoAwayAsync(int lastStream, Http2ErrorCode code, string debug = "")
    {
        var payload = new byte[8 + debug.Length];
        BinaryPrimitives.WriteInt32BigEndian(payload, lastStream);
        BinaryPrimitives.WriteUInt32BigEndian(payload.AsSpan(4), (uint)code);
        Encoding.ASCII.GetBytes(debug, payload.AsSpan(8));
        return WriteAsync(FrameType.GoAway, FrameFlags.None, 0, payload);
    }

    /// <summary>Literals that no table remembers.</summary>
    public static byte[] Block(params string[] headers)
    {
        var block = new FrameBuffer(64);
        foreach (var header in headers)
        {
            var colon = header.IndexOf(": ", 1, StringComparison.Ordinal);
            block.Append(0x10);
            foreach (var text in new[] { header[..colon], header[(colon + 2)..] })
            {
                block.Advance(HpackInteger.Write(block.Free(6), text.Length, 7, 0));
                block.Append(Encoding.Latin1.GetBytes(text));
            }
        }

        return block.Written.ToArray();
    }

    public async ValueTask DisposeAsync()
    {
        await _stream.DisposeAsync();
        _patience.Dispose();
    }
}
