using System.Buffers.Text;
using System.Security.Cryptography;

namespace Pnh.Sandbox.WebPush;

/// <summary>The other end of Web Push: a browser's subscription with its private key, and what it reads of a message (RFC 8291). Immutable.</summary>
internal sealed class Browser
{
    /// <summary>An uncompressed point of P-256: 4, x, y.</summary>
    public const int PointBytes = 65;

    /// <summary>Bytes of the authentication secret (RFC 8291 section 3.2).</summary>
    public const int SecretBytes = 16;

    // Header, key id and a record with nothing but delimiter and tag.
    private const int LeastBytes = EncryptedContent.PrefixBytes + PointBytes + 17;

    private readonly ECParameters _pair;
    private readonly byte[] _secret;
    private readonly byte[] _point;

    /// <param name="scalar">The private key: 32 bytes, from 1 to below the curve's order.</param>
    /// <param name="secret">The authentication secret.</param>
    public Browser(byte[] scalar, byte[] secret)
    {
        using ECDiffieHellman pair = ECDiffieHellman.Create(new ECParameters { Curve = ECCurve.NamedCurves.nistP256, D = scalar });
        _pair = pair.ExportParameters(includePrivateParameters: true);
        _point = [4, .. _pair.Q.X!, .. _pair.Q.Y!];
        _secret = secret;
    }

    public string P256dh => Base64Url.EncodeToString(_point);

    public string Auth => Base64Url.EncodeToString(_secret);

    /// <summary>What the service worker gets; null and what is wrong: a browser drops such a message without a word.</summary>
    public byte[]? Read(ReadOnlySpan<byte> body, out string error)
    {
        if (body.Length < LeastBytes || EncryptedContent.KeyId(body) is not [4, ..] theirs || theirs.Length != PointBytes)
        {
            error = "The body is too short, or its key id is no uncompressed point of P-256 (RFC 8291 section 4).";
            return null;
        }

        if (EncryptedContent.Records(body) != 1)
        {
            error = "A push message is one record of at least 18 bytes (RFC 8291 section 4).";
            return null;
        }

        if (Agree(theirs) is not { } shared)
        {
            error = "The key id is a point off the curve.";
            return null;
        }

        // Section 3.4: the secret and the agreement, bound to both public keys.
        byte[] combined = HMACSHA256.HashData(_secret, shared);
        byte[] key = HMACSHA256.HashData(combined, (byte[])[.. "WebPush: info\0"u8, .. _point, .. theirs, 1]);
        return EncryptedContent.Decode(body, key, out error);
    }

    private byte[]? Agree(byte[] point)
    {
        try
        {
            using ECDiffieHellman theirs = ECDiffieHellman.Create(new ECParameters
            {
                Curve = ECCurve.NamedCurves.nistP256,
                Q = new ECPoint { X = point[1..33], Y = point[33..] },
            });
            using ECDiffieHellman ours = ECDiffieHellman.Create(_pair);
            return ours.DeriveRawSecretAgreement(theirs.PublicKey);
        }
        catch (CryptographicException)
        {
            return null;
        }
    }
}
