using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Pnh.Channels.WebPush;

/// <summary>
/// Encrypts a message for one browser (RFC 8291): a key agreed with a pair made for this message alone, then the content coding <c>aes128gcm</c> (RFC 8188) in
/// one record. The push service reads nothing of it. Pure, but for the random numbers.
/// </summary>
internal static class WebPushEncryption
{
    /// <summary>What every push service must take (RFC 8030 section 7.2), and the most that any takes.</summary>
    public const int MaxBodyBytes = 4096;

    /// <summary>What is left of it for the plain text: 3993.</summary>
    public const int MaxPlainBytes = MaxBodyBytes - SaltBytes - 4 - 1 - PushSubscription.PublicKeyBytes - 1 - TagBytes;

    public const int SaltBytes = 16;

    private const int RecordSize = 4096;
    private const int TagBytes = 16;
    private const int KeyBytes = 32;

    /// <summary>RFC 8188 section 2: the last record's delimiter.</summary>
    private const byte LastRecord = 2;

    /// <summary>The body for a subscription. Throws <see cref="CryptographicException"/> when its key is no point of the curve.</summary>
    public static byte[] Encrypt(ReadOnlySpan<byte> plain, PushSubscription to)
    {
        using var pair = ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256);
        Span<byte> salt = stackalloc byte[SaltBytes];
        RandomNumberGenerator.Fill(salt);
        return Encrypt(plain, to, pair, salt);
    }

    /// <summary>The same with a given pair and salt, for the vectors of the RFC. Neither may ever be used twice.</summary>
    internal static byte[] Encrypt(ReadOnlySpan<byte> plain, PushSubscription to, ECDiffieHellman pair, ReadOnlySpan<byte> salt)
    {
        Span<byte> ours = stackalloc byte[PushSubscription.PublicKeyBytes];
        Point(pair, ours);
        Span<byte> key = stackalloc byte[KeyBytes];
        Agree(pair, ours, to, key);
        return Encode(plain, key, salt, ours);
    }

    /// <summary>RFC 8188 in one record: salt, record size, key id, cipher text.</summary>
    internal static byte[] Encode(ReadOnlySpan<byte> plain, ReadOnlySpan<byte> key, ReadOnlySpan<byte> salt, ReadOnlySpan<byte> keyId)
    {
        Span<byte> extracted = stackalloc byte[KeyBytes];
        HKDF.Extract(HashAlgorithmName.SHA256, key, salt, extracted);
        Span<byte> contentKey = stackalloc byte[16];
        HKDF.Expand(HashAlgorithmName.SHA256, extracted, contentKey, "Content-Encoding: aes128gcm\0"u8);
        Span<byte> nonce = stackalloc byte[12];
        HKDF.Expand(HashAlgorithmName.SHA256, extracted, nonce, "Content-Encoding: nonce\0"u8);

        var head = SaltBytes + 4 + 1 + keyId.Length;
        var body = new byte[head + plain.Length + 1 + TagBytes];
        salt.CopyTo(body);
        BinaryPrimitives.WriteUInt32BigEndian(body.AsSpan(SaltBytes), RecordSize);
        body[SaltBytes + 4] = (byte)keyId.Length;
        keyId.CopyTo(body.AsSpan(SaltBytes + 5));

        // Encrypted where it stands: the nonce of record 0 is the derived one itself.
        var record = body.AsSpan(head, plain.Length + 1);
        plain.CopyTo(record);
        record[^1] = LastRecord;
        using var cipher = new AesGcm(contentKey, TagBytes);
        cipher.Encrypt(nonce, record, record, body.AsSpan(head + record.Length));
        return body;
    }

    /// <summary>RFC 8291 section 3.4: the agreed secret, bound to the browser's authentication secret and to both public keys.</summary>
    private static void Agree(ECDiffieHellman pair, ReadOnlySpan<byte> ours, PushSubscription to, Span<byte> key)
    {
        using var theirs = PushSubscription.ImportPublicKey(to.PublicKey);
        using var theirPublic = theirs.PublicKey;
        var shared = pair.DeriveRawSecretAgreement(theirPublic);
        Span<byte> extracted = stackalloc byte[KeyBytes];
        HKDF.Extract(HashAlgorithmName.SHA256, shared, to.Secret, extracted);
        CryptographicOperations.ZeroMemory(shared);

        var label = "WebPush: info\0"u8;
        Span<byte> info = stackalloc byte[label.Length + (2 * PushSubscription.PublicKeyBytes)];
        label.CopyTo(info);
        to.PublicKey.CopyTo(info[label.Length..]);
        ours.CopyTo(info[(label.Length + PushSubscription.PublicKeyBytes)..]);
        HKDF.Expand(HashAlgorithmName.SHA256, extracted, key, info);
    }

    private static void Point(ECDiffieHellman pair, Span<byte> point)
    {
        var q = pair.ExportParameters(includePrivateParameters: false).Q;
        point[0] = 4;
        q.X.CopyTo(point[1..]);
        q.Y.CopyTo(point[33..]);
    }
}
