using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Storage.Segments.Index;

/// <summary>
/// SipHash-1-3 (Aumasson, Bernstein) with a key that is drawn, or was: publishers choose ids, and must not be able to choose collisions.
/// </summary>
internal sealed class EventIdHash
{
    private readonly ulong _key0;
    private readonly ulong _key1;

    public EventIdHash()
    {
        Span<byte> key = stackalloc byte[16];
        RandomNumberGenerator.Fill(key);
        _key0 = BinaryPrimitives.ReadUInt64LittleEndian(key);
        _key1 = BinaryPrimitives.ReadUInt64LittleEndian(key[8..]);
    }

    /// <param name="key0">What <see cref="WriteKey"/> wrote first.</param>
    /// <param name="key1">And then.</param>
    public EventIdHash(ulong key0, ulong key1) => (_key0, _key1) = (key0, key1);

    /// <summary>16 bytes, with which the same can be made again.</summary>
    public void WriteKey(Span<byte> into)
    {
        BinaryPrimitives.WriteUInt64LittleEndian(into, _key0);
        BinaryPrimitives.WriteUInt64LittleEndian(into[8..], _key1);
    }

    /// <summary>Of an event's key, or a user's.</summary>
    public ulong Of(string app, string id)
    {
        Span<byte> bytes = stackalloc byte[512];
        var most = 3 * (app.Length + id.Length);
        bytes = most + 1 > bytes.Length ? new byte[most + 1] : bytes;
        var length = Encoding.UTF8.GetBytes(app, bytes);
        bytes[length++] = 0xff;
        length += Encoding.UTF8.GetBytes(id, bytes[length..]);
        return Of(bytes[..length]);
    }

    /// <summary>Of a user's device.</summary>
    public ulong Of(string app, string user, string device)
    {
        Span<byte> bytes = stackalloc byte[1024];
        var most = 3 * (app.Length + user.Length + device.Length);
        bytes = most + 2 > bytes.Length ? new byte[most + 2] : bytes;
        var length = Encoding.UTF8.GetBytes(app, bytes);
        bytes[length++] = 0xff;
        length += Encoding.UTF8.GetBytes(user, bytes[length..]);
        bytes[length++] = 0xff;
        length += Encoding.UTF8.GetBytes(device, bytes[length..]);
        return Of(bytes[..length]);
    }

    /// <summary>The same of its UTF-8 bytes.</summary>
    public ulong Of(ReadOnlySpan<byte> app, ReadOnlySpan<byte> id)
    {
        Span<byte> bytes = stackalloc byte[512];
        var length = app.Length + id.Length + 1;
        bytes = length > bytes.Length ? new byte[length] : bytes[..length];
        app.CopyTo(bytes);
        bytes[app.Length] = 0xff;
        id.CopyTo(bytes[(app.Length + 1)..]);
        return Of(bytes);
    }

    /// <summary>Of an event and one of its users; null = all.</summary>
    public ulong Of(long root, string? user) => Of(root, user, user is null ? (byte)0 : (byte)1);

    /// <summary>Another of an event and one of its users.</summary>
    public ulong OfErased(long root, string user) => Of(root, user, 2);

    private ulong Of(long root, string? user, byte mark)
    {
        Span<byte> bytes = stackalloc byte[1024];
        var most = 9 + (3 * (user?.Length ?? 0));
        bytes = most > bytes.Length ? new byte[most] : bytes;
        BinaryPrimitives.WriteInt64LittleEndian(bytes, root);
        bytes[8] = mark;
        return Of(bytes[..(9 + Encoding.UTF8.GetBytes(user, bytes[9..]))]);
    }

    private ulong Of(ReadOnlySpan<byte> bytes)
    {
        var v0 = _key0 ^ 0x736f6d6570736575;
        var v1 = _key1 ^ 0x646f72616e646f6d;
        var v2 = _key0 ^ 0x6c7967656e657261;
        var v3 = _key1 ^ 0x7465646279746573;
        var last = (ulong)bytes.Length << 56;
        for (; bytes.Length >= 8; bytes = bytes[8..])
        {
            var word = BinaryPrimitives.ReadUInt64LittleEndian(bytes);
            v3 ^= word;
            Round(ref v0, ref v1, ref v2, ref v3);
            v0 ^= word;
        }

        for (var i = 0; i < bytes.Length; i++)
        {
            last |= (ulong)bytes[i] << (8 * i);
        }

        v3 ^= last;
        Round(ref v0, ref v1, ref v2, ref v3);
        v0 ^= last;
        v2 ^= 0xff;
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        Round(ref v0, ref v1, ref v2, ref v3);
        return v0 ^ v1 ^ v2 ^ v3;
    }

    // Inlined, what it works on stays in registers: called, it was more than a third of a hash.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static void Round(ref ulong v0, ref ulong v1, ref ulong v2, ref ulong v3)
    {
        v0 += v1;
        v2 += v3;
        v1 = BitOperations.RotateLeft(v1, 13) ^ v0;
        v3 = BitOperations.RotateLeft(v3, 16) ^ v2;
        v0 = BitOperations.RotateLeft(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = BitOperations.RotateLeft(v1, 17) ^ v2;
        v3 = BitOperations.RotateLeft(v3, 21) ^ v0;
        v2 = BitOperations.RotateLeft(v2, 32);
    }
}
