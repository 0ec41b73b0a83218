using System.Text;

namespace Pnh.Channels.Tests.WebSockets.Rfc6455;

/// <summary>Frames as a client sends them, right and wrong ones.</summary>
internal static class MaskedFrame
{
    public const int Continuation = 0;
    public const int Text = 1;
    public const int Binary = 2;
    public const int Close = 8;
    public const int Ping = 9;
    public const int Pong = 10;

    private static readonly byte[] Mask = [0x37, 0xFA, 0x21, 0x3D];

    /// <summary>One frame; <paramref name="reserved"/> are the three bits as a number, <paramref name="lengthBytes"/> 0, 2, 8 or -1 = the shortest.</summary>
    public static byte[] Of(int opcode, byte[] payload, bool isFinal = true, int reserved = 0, int lengthBytes = -1)
    {
        var frame = new List<byte> { (byte)((isFinal ? 0x80 : 0) | (reserved << 4) | opcode) };
        lengthBytes = lengthBytes >= 0 ? lengthBytes : payload.Length < 126 ? 0 : payload.Length < 65_536 ? 2 : 8;
        frame.Add((byte)(0x80 | (lengthBytes switch { 0 => payload.Length, 2 => 126, _ => 127 })));
        for (var shift = 8 * (lengthBytes - 1); shift >= 0; shift -= 8)
        {
            frame.Add((byte)((long)payload.Length >> shift));
        }

        frame.AddRange(Mask);
        frame.AddRange(payload.Select((b, i) => (byte)(b ^ Mask[i % 4])));
        return [.. frame];
    }

    public static byte[] Of(int opcode, string payload, bool isFinal = true, int reserved = 0) =>
        Of(opcode, Encoding.UTF8.GetBytes(payload), isFinal, reserved);

    public static byte[] OfClose(int code, string reason = "") =>
        Of(Close, [(byte)(code >> 8), (byte)code, .. Encoding.UTF8.GetBytes(reason)]);

    /// <summary>A message in frames of so many bytes.</summary>
    public static byte[][] Fragments(int opcode, byte[] payload, int size)
    {
        var count = Math.Max(1, (payload.Length + size - 1) / size);
        return [.. Enumerable.Range(0, count).Select(i =>
            Of(i == 0 ? opcode : Continuation, payload[(i * size)..Math.Min(payload.Length, (i + 1) * size)], isFinal: i == count - 1))];
    }

    /// <summary>Bytes in writes of so many.</summary>
    public static byte[][] Chop(byte[] bytes, int size) => [.. bytes.Chunk(size)];

    /// <summary>Frames as one run of bytes.</summary>
    public static byte[] Join(params byte[][] frames) => [.. frames.SelectMany(static frame => frame)];
}
