using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Api.Access;

/// <summary>
/// SHA-256 of a publisher key in UTF-8, as a value to look up by. Keys are random and long, so a plain hash is enough: there is nothing to
/// guess. Comparing hashes tells an attacker nothing about the key through timing.
/// </summary>
internal readonly record struct KeyHash(ulong A, ulong B, ulong C, ulong D)
{
    /// <summary>The hash of a key of at most <see cref="PublisherKeys.SecretCharacters"/> characters. Allocates nothing.</summary>
    public static KeyHash Of(ReadOnlySpan<char> secret)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan(secret.Length, PublisherKeys.SecretCharacters);
        Span<byte> utf8 = stackalloc byte[PublisherKeys.SecretCharacters * 3];
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(utf8[..Encoding.UTF8.GetBytes(secret, utf8)], hash);
        return FromBytes(hash);
    }

    /// <summary>From 32 bytes.</summary>
    public static KeyHash FromBytes(ReadOnlySpan<byte> hash) => new(
        BinaryPrimitives.ReadUInt64BigEndian(hash), BinaryPrimitives.ReadUInt64BigEndian(hash[8..]),
        BinaryPrimitives.ReadUInt64BigEndian(hash[16..]), BinaryPrimitives.ReadUInt64BigEndian(hash[24..]));

    /// <summary>The 32 bytes, for storage.</summary>
    public byte[] ToBytes()
    {
        var bytes = new byte[SHA256.HashSizeInBytes];
        BinaryPrimitives.WriteUInt64BigEndian(bytes, A);
        BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(8), B);
        BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(16), C);
        BinaryPrimitives.WriteUInt64BigEndian(bytes.AsSpan(24), D);
        return bytes;
    }

    /// <summary>From 64 hexadecimal digits; false when it is anything else.</summary>
    public static bool TryParse(string text, out KeyHash hash)
    {
        hash = default;
        Span<byte> bytes = stackalloc byte[SHA256.HashSizeInBytes];
        if (text.Length != 64 || Convert.FromHexString(text, bytes, out _, out var written) != System.Buffers.OperationStatus.Done || written != bytes.Length)
        {
            return false;
        }

        hash = FromBytes(bytes);
        return true;
    }

    /// <summary>64 lower-case hexadecimal digits, as <c>SecretHash</c> and the key store have it.</summary>
    public string ToHex() => $"{A:x16}{B:x16}{C:x16}{D:x16}";

    /// <summary>What people call the key by: the first 12 digits. It says nothing of the key itself.</summary>
    public string ToId() => ToHex()[..12];

    /// <summary>The first bits are random already.</summary>
    public override int GetHashCode() => A.GetHashCode();

    /// <summary>Not the hash: it stays out of logs.</summary>
    public override string ToString() => nameof(KeyHash);
}
