using System.Buffers.Binary;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Channels.WebPush;
using Pnh.Core.Devices;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>
/// The other end: a browser's subscription with its private key. Decrypts strictly, with HMAC written out by hand, so that it shares no line with the channel.
/// </summary>
internal sealed class Browser : IDisposable
{
    private readonly ECDiffieHellman _pair;
    private readonly byte[] _secret;

    public Browser()
        : this(ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256), RandomNumberGenerator.GetBytes(16))
    {
    }

    public Browser(ECDiffieHellman pair, byte[] secret)
    {
        _pair = pair;
        _secret = secret;
    }

    public string P256dh => Base64Url.EncodeToString(Point(_pair));

    public string Auth => Base64Url.EncodeToString(_secret);

    public static byte[] Bytes(string base64Url) => Base64Url.DecodeFromChars(base64Url);

    /// <summary>The pair of a private scalar and its public point, both base64url.</summary>
    public static ECDiffieHellman Pair(string scalar, string point) => ECDiffieHellman.Create(new ECParameters
    {
        Curve = ECCurve.NamedCurves.nistP256,
        D = Bytes(scalar),
        Q = new ECPoint { X = Bytes(point)[1..33], Y = Bytes(point)[33..] },
    });

    public PushAddress Subscribe(string endpoint) => new("webpush", "subscription", PushSubscription.Join(endpoint, P256dh, Auth), "", default);

    /// <summary>What the service worker gets, or an exception.</summary>
    public string Read(byte[] body)
    {
        var ours = Point(_pair);
        var theirs = KeyId(body);
        Assert.Equal((65, 4), (theirs.Length, theirs[0]));
        using var sender = ECDiffieHellman.Create(new ECParameters
        {
            Curve = ECCurve.NamedCurves.nistP256,
            Q = new ECPoint { X = theirs[1..33], Y = theirs[33..] },
        });
        var shared = _pair.DeriveRawSecretAgreement(sender.PublicKey);
        var key = Hmac(Hmac(_secret, shared), [.. "WebPush: info\0"u8, .. ours, .. theirs, 1]);
        return Encoding.UTF8.GetString(Decode(body, key));
    }

    /// <summary>RFC 8188, any number of records.</summary>
    public static byte[] Decode(byte[] body, byte[] key)
    {
        var recordSize = (int)BinaryPrimitives.ReadUInt32BigEndian(body.AsSpan(16));
        Assert.True(recordSize >= 18);
        var extracted = Hmac(body[..16], key);
        var contentKey = Hmac(extracted, [.. "Content-Encoding: aes128gcm\0"u8, 1])[..16];
        var nonce = Hmac(extracted, [.. "Content-Encoding: nonce\0"u8, 1])[..12];
        var rest = body.AsSpan(21 + body[20]);
        using var cipher = new AesGcm(contentKey, 16);
        var plain = new List<byte>();
        for (var number = 0; rest.Length > 0; number++)
        {
            var record = rest[..Math.Min(recordSize, rest.Length)];
            rest = rest[record.Length..];
            var numbered = nonce.ToArray();
            numbered[11] ^= (byte)number;
            var clear = new byte[record.Length - 16];
            cipher.Decrypt(numbered, record[..^16], record[^16..], clear);
            var end = clear.AsSpan().LastIndexOfAnyExcept((byte)0);
            Assert.Equal(rest.Length == 0 ? 2 : 1, clear[end]);
            plain.AddRange(clear[..end]);
        }

        return [.. plain];
    }

    public static byte[] KeyId(byte[] body) => body[21..(21 + body[20])];

    public static byte[] Point(ECDiffieHellman pair)
    {
        var q = pair.ExportParameters(includePrivateParameters: false).Q;
        return [4, .. q.X!, .. q.Y!];
    }

    public void Dispose() => _pair.Dispose();

    private static byte[] Hmac(byte[] key, byte[] data) => HMACSHA256.HashData(key, data);
}
