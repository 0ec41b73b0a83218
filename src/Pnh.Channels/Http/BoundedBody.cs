using System.Buffers;

namespace Pnh.Channels.Http;

/// <summary>The first 64 kB of an answer's body in a pooled buffer. Dispose it once.</summary>
internal readonly struct BoundedBody : IDisposable
{
    /// <summary>An error object has a few hundred bytes; what comes after 64 kB is not read and the stream is reset.</summary>
    public const int MaxBytes = 64 * 1024;

    private readonly byte[] _buffer;
    private readonly int _length;

    private BoundedBody(byte[] buffer, int length)
    {
        _buffer = buffer;
        _length = length;
    }

    public ReadOnlyMemory<byte> Bytes => _buffer.AsMemory(0, _length);

    public static async ValueTask<BoundedBody> ReadAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(4096);
        var length = 0;
        try
        {
            using var stream = await response.Content.ReadAsStreamAsync(cancellationToken);
            while (true)
            {
                var read = await stream.ReadAsync(buffer.AsMemory(length), cancellationToken);
                length += read;
                if (read == 0 || length >= MaxBytes)
                {
                    return new BoundedBody(buffer, Math.Min(length, MaxBytes));
                }

                if (length == buffer.Length)
                {
                    buffer = Grow(buffer);
                }
            }
        }
        catch
        {
            ArrayPool<byte>.Shared.Return(buffer);
            throw;
        }
    }

    public void Dispose() => ArrayPool<byte>.Shared.Return(_buffer);

    private static byte[] Grow(byte[] buffer)
    {
        var larger = ArrayPool<byte>.Shared.Rent(buffer.Length * 4);
        buffer.CopyTo(larger, 0);
        ArrayPool<byte>.Shared.Return(buffer);
        return larger;
    }
}
