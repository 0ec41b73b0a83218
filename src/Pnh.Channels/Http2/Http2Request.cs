using System.Text;

namespace Pnh.Channels.Http2;

/// <summary>One header of a request.</summary>
/// <param name="Name">Lower case.</param>
/// <param name="Value">Printable ASCII.</param>
/// <param name="Indexing">Whether other requests share it.</param>
internal readonly record struct Http2Header(string Name, string Value, HeaderIndexing Indexing = HeaderIndexing.Indexed);

/// <summary>A body of shared parts and two ASCII texts between them that differ from request to request; every piece may be empty.</summary>
internal readonly record struct Http2Body(
    ReadOnlyMemory<byte> Head, string First, ReadOnlyMemory<byte> Middle, string Second, ReadOnlyMemory<byte> Tail)
{
    public static readonly Http2Body Empty = Whole(default);

    /// <summary>Bytes.</summary>
    public int Length => Head.Length + First.Length + Middle.Length + Second.Length + Tail.Length;

    public static Http2Body Whole(ReadOnlyMemory<byte> bytes) => new(bytes, "", default, "", default);

    /// <summary>Fills the target with the body's bytes from <paramref name="offset"/> on; they must reach.</summary>
    public void CopyTo(Span<byte> target, int offset)
    {
        Copy(Head.Span, ref target, ref offset);
        Copy(First, ref target, ref offset);
        Copy(Middle.Span, ref target, ref offset);
        Copy(Second, ref target, ref offset);
        Copy(Tail.Span, ref target, ref offset);
    }

    private static void Copy(ReadOnlySpan<byte> piece, ref Span<byte> target, ref int skip)
    {
        if (skip >= piece.Length)
        {
            skip -= piece.Length;
            return;
        }

        piece = piece[skip..];
        piece = piece[..Math.Min(piece.Length, target.Length)];
        piece.CopyTo(target);
        target = target[piece.Length..];
        skip = 0;
    }

    private static void Copy(string piece, ref Span<byte> target, ref int skip)
    {
        if (skip >= piece.Length)
        {
            skip -= piece.Length;
            return;
        }

        var text = piece.AsSpan(skip);
        text = text[..Math.Min(text.Length, target.Length)];
        Encoding.ASCII.GetBytes(text, target);
        target = target[text.Length..];
        skip = 0;
    }
}

/// <summary>A POST. What it refers to must not change until its answer is there.</summary>
internal readonly record struct Http2Request
{
    /// <summary>The path's beginning, with a slash in front: <c>/3/device/</c>.</summary>
    public required string Path { get; init; }

    /// <summary>The rest of the path; empty = none.</summary>
    public string PathEnd { get; init; } = "";

    /// <summary>Besides the pseudo headers and content-length, in the order they are sent.</summary>
    public ReadOnlyMemory<Http2Header> Headers { get; init; }

    public Http2Body Body { get; init; } = Http2Body.Empty;

    public Http2Request()
    {
    }

    /// <summary>Throws <see cref="ArgumentException"/> for what would break the peer's parser: a bug of the caller's.</summary>
    internal void Check()
    {
        var valid = Path.StartsWith('/') && IsPrintable(Path) && IsPrintable(PathEnd);
        foreach (ref readonly var header in Headers.Span)
        {
            valid &= header.Name.Length > 0 && IsPrintable(header.Value);
        }

        if (!valid)
        {
            throw new ArgumentException("A path or header is not printable ASCII.");
        }
    }

    private static bool IsPrintable(string text) => !text.AsSpan().ContainsAnyExceptInRange(' ', '~');
}
