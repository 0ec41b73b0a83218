using System.Buffers.Binary;
using System.Security.Cryptography;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// Content in <c>aes128gcm</c> (RFC 8188): salt of 16 bytes, record size, length of the key id, key id, records. The key derivation is HMAC written out, so that it
/// shares no line with a sender's. What is wrong comes back as words.
/// </summary>
internal static class EncryptedContent
{
    /// <summary>Salt, record size and length of the key id.</summary>
    public const int PrefixBytes = SaltBytes + 5;

    private const int SaltBytes = 16;
    private const int KeyBytes = 16;
    private const int NonceBytes = 12;
    private const int TagBytes = 16;

    // A delimiter after the data, and it tells the last record from those before (section 2).
    private const byte LastRecord = 2;
    private const byte FurtherRecord = 1;

    /// <summary>The key id; null when the content ends before it does.</summary>
    public static byte[]? KeyId(ReadOnlySpan<byte> content) =>
        content.Length >= PrefixBytes && content.Length >= PrefixBytes + content[PrefixBytes - 1]
            ? content.Slice(PrefixBytes, content[PrefixBytes - 1]).ToArray()
            : null;

    /// <summary>How many records follow the key id; 0 when the content ends before, or its record size is below the least of 18 (section 2.1).</summary>
    public static int Records(ReadOnlySpan<byte> content) =>
        KeyId(content) is { } keyId && RecordSize(content) is > TagBytes + 1 and uint size
            ? (int)((content.Length - PrefixBytes - keyId.Length + size - 1) / size)
            : 0;

    /// <summary>The data of every record, without its padding; null and what is wrong.</summary>
    public static byte[]? Decode(ReadOnlySpan<byte> content, byte[] key, out string error)
    {
        int records = Records(content);
        if (records == 0)
        {
            error = "The content has no whole header, no record, or a record size below 18.";
            return null;
        }

        byte[] extracted = HMACSHA256.HashData(content[..SaltBytes], key);
        byte[] nonce = Expand(extracted, "Content-Encoding: nonce\0"u8, NonceBytes);
        using AesGcm cipher = new(Expand(extracted, "Content-Encoding: aes128gcm\0"u8, KeyBytes), TagBytes);
        ReadOnlySpan<byte> rest = content[(PrefixBytes + content[PrefixBytes - 1])..];
        List<byte> plain = [];
        for (int number = 0; number < records; number++)
        {
            ReadOnlySpan<byte> record = rest[..(int)Math.Min(RecordSize(content), (uint)rest.Length)];
            rest = rest[record.Length..];
            if (Open(cipher, Numbered(nonce, number), record, isLast: rest.IsEmpty) is not { } data)
            {
                error = $"Record {number} cannot be opened, or its delimiter is wrong.";
                return null;
            }

            plain.AddRange(data);
        }

        error = "";
        return [.. plain];
    }

    private static uint RecordSize(ReadOnlySpan<byte> content) => BinaryPrimitives.ReadUInt32BigEndian(content[SaltBytes..]);

    private static byte[]? Open(AesGcm cipher, byte[] nonce, ReadOnlySpan<byte> record, bool isLast)
    {
        if (record.Length <= TagBytes)
        {
            return null;
        }

        byte[] clear = new byte[record.Length - TagBytes];
        try
        {
            cipher.Decrypt(nonce, record[..^TagBytes], record[^TagBytes..], clear);
        }
        catch (AuthenticationTagMismatchException)
        {
            return null;
        }

        int end = clear.AsSpan().LastIndexOfAnyExcept((byte)0);
        return end >= 0 && clear[end] == (isLast ? LastRecord : FurtherRecord) ? clear[..end] : null;
    }

    // HKDF-Expand of RFC 5869 for one block at most.
    private static byte[] Expand(byte[] extracted, ReadOnlySpan<byte> info, int bytes) =>
        HMACSHA256.HashData(extracted, (byte[])[.. info, 1])[..bytes];

    // Section 2.3: exclusive or with the record's number.
    private static byte[] Numbered(byte[] nonce, int number)
    {
        byte[] numbered = [.. nonce];
        Span<byte> end = numbered.AsSpan(NonceBytes - sizeof(int));
        BinaryPrimitives.WriteInt32BigEndian(end, BinaryPrimitives.ReadInt32BigEndian(end) ^ number);
        return numbered;
    }
}
