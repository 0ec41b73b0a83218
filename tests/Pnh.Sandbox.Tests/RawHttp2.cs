using System.Buffers.Binary;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Pnh.Sandbox.Tests.Apns;

namespace Pnh.Sandbox.Tests;

/// <summary>HTTP/2 frame by frame, for what the framework's client hides: repeated headers, SETTINGS, GOAWAY's debug data.</summary>
internal sealed class RawHttp2 : IAsyncDisposable
{
    public const byte Data = 0;
    public const byte HeadersType = 1;
    public const byte ResetType = 3;
    public const byte SettingsType = 4;
    public const byte GoAwayType = 7;
    private const byte EndStream = 1;
    private const byte EndHeaders = 4;
    private const int FrameHeaderBytes = 9;

    private readonly TcpClient _tcp;
    private readonly SslStream _tls;
    private readonly CancellationTokenSource _timeout = new(SandboxUnderTest.Patience);

    private RawHttp2(TcpClient tcp, SslStream tls)
    {
        _tcp = tcp;
        _tls = tls;
    }

    public static async Task<RawHttp2> ConnectAsync(SandboxUnderTest sandbox, Uri address)
    {
        TcpClient tcp = new();
        await tcp.ConnectAsync("127.0.0.1", address.Port);
        RawHttp2 connection = new(tcp, new SslStream(tcp.GetStream()));
        await connection._tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = "localhost",
            ApplicationProtocols = [SslApplicationProtocol.Http2],
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                CustomTrustStore = { sandbox.Server.CaCertificate },
                RevocationMode = X509RevocationMode.NoCheck,
            },
        }, connection._timeout.Token);
        await connection._tls.WriteAsync("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"u8.ToArray(), connection._timeout.Token);
        await connection.WriteAsync(SettingsType, 0, 0, []);
        return connection;
    }

    /// <summary>A correct push with one header added once more, or twice when it was absent.</summary>
    public static async Task<Answer> PostTwiceAsync(SandboxUnderTest sandbox, string header, string value)
    {
        ApnsCaller push = new(sandbox);
        List<(string, string)> headers = [.. push.Headers.Select(one => (one.Key, one.Value[0])), (header, value)];
        if (!push.Headers.ContainsKey(header))
        {
            headers.Add((header, value));
        }

        await using RawHttp2 connection = await ConnectAsync(sandbox, sandbox.Server.ApnsAddress);
        await connection.PostAsync(1, $"/3/device/{push.Address}", headers, ApnsCaller.Payload);
        (byte type, byte[] payload) status = await connection.ReadUntilAsync(HeadersType);
        (byte type, byte[] payload) body = await connection.ReadUntilAsync(Data);

        // Kestrel writes the status first: 0x8c is the static table's 400 (RFC 7541 appendix A).
        return new Answer(status.payload[0] == 0x8c ? 400 : 0, Encoding.UTF8.GetString(body.payload), new Dictionary<string, string>());
    }

    public async Task PostAsync(int stream, string path, IEnumerable<(string Name, string Value)> headers, string? body)
    {
        List<byte> block = [];
        foreach ((string name, string value) in headers.Prepend((":authority", "localhost")).Prepend((":scheme", "https"))
            .Prepend((":path", path)).Prepend((":method", "POST")))
        {
            // Literal without indexing, new name (RFC 7541 section 6.2.2).
            block.Add(0);
            Append(block, name);
            Append(block, value);
        }

        await WriteAsync(HeadersType, EndHeaders, stream, [.. block]);
        if (body is not null)
        {
            await WriteAsync(Data, EndStream, stream, Encoding.UTF8.GetBytes(body));
        }
    }

    public async Task<(byte Type, byte[] Payload)> ReadAsync()
    {
        byte[] header = new byte[FrameHeaderBytes];
        await _tls.ReadExactlyAsync(header, _timeout.Token);
        byte[] payload = new byte[(header[0] << 16) | (header[1] << 8) | header[2]];
        await _tls.ReadExactlyAsync(payload, _timeout.Token);
        return (header[3], payload);
    }

    public async Task<(byte Type, byte[] Payload)> ReadUntilAsync(byte type)
    {
        while (true)
        {
            (byte Type, byte[] Payload) frame = await ReadAsync();
            if (frame.Type == type)
            {
                return frame;
            }
        }
    }

    /// <summary>The MAX_CONCURRENT_STREAMS of the next SETTINGS frame that has one.</summary>
    public async Task<int> ReadStreamsAsync()
    {
        while (true)
        {
            (_, byte[] payload) = await ReadUntilAsync(SettingsType);
            for (int at = 0; at + 6 <= payload.Length; at += 6)
            {
                if (BinaryPrimitives.ReadUInt16BigEndian(payload.AsSpan(at)) == 3)
                {
                    return BinaryPrimitives.ReadInt32BigEndian(payload.AsSpan(at + 2));
                }
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _tls.DisposeAsync();
        _tcp.Dispose();
        _timeout.Dispose();
    }

    // A length of 127 and more goes on in a second byte and further ones (RFC 7541 section 5.1).
    private static void Append(List<byte> block, string text)
    {
        int length = text.Length;
        block.Add((byte)Math.Min(length, 127));
        if (length >= 127)
        {
            for (length -= 127; length >= 128; length >>= 7)
            {
                block.Add((byte)(length | 128));
            }

            block.Add((byte)length);
        }

        block.AddRange(Encoding.ASCII.GetBytes(text));
    }

    private async Task WriteAsync(byte type, byte flags, int stream, byte[] payload)
    {
        byte[] frame = new byte[FrameHeaderBytes + payload.Length];
        frame[0] = (byte)(payload.Length >> 16);
        frame[1] = (byte)(payload.Length >> 8);
        frame[2] = (byte)payload.Length;
        frame[3] = type;
        frame[4] = flags;
        BinaryPrimitives.WriteInt32BigEndian(frame.AsSpan(5), stream);
        payload.CopyTo(frame, FrameHeaderBytes);
        await _tls.WriteAsync(frame, _timeout.Token);
    }
}
