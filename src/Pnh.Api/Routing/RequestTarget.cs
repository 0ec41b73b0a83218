using System.Buffers;

namespace Pnh.Api.Routing;

/// <summary>
/// Reads request targets as they came over the wire (RFC 9112 section 3.2). The server's own decoded path is not enough: it folds dot
/// segments, and it leaves <c>%2F</c> and <c>%252F</c> looking the same. Pure functions, no allocation unless a text is decoded.
/// </summary>
internal static class RequestTarget
{
    // What System.Uri, which the server reads the absolute form with, leaves as it is. It unescapes, turns \ into /, cuts at #, and trims blanks.
    private static readonly SearchValues<char> Plain =
        SearchValues.Create("!$&'()*+,-./0123456789:;=@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]_abcdefghijklmnopqrstuvwxyz~");

    /// <summary>
    /// The path of a target, without the query, still encoded; empty when there is none (<c>*</c>, an authority). The absolute form
    /// (<c>http://host/path</c>) is decoded by other rules: of what routing could see as another path than this, the path is empty too.
    /// </summary>
    public static ReadOnlySpan<char> Path(ReadOnlySpan<char> target)
    {
        var query = target.IndexOf('?');
        var path = query < 0 ? target : target[..query];
        return path.StartsWith('/') ? path : PathOfAbsolute(path);
    }

    /// <summary>True for <c>.</c> and <c>..</c>, plain or escaped: the server folds such segments away, so they never name anything here.</summary>
    public static bool IsDotSegment(ReadOnlySpan<char> segment)
    {
        var dots = 0;
        while (!segment.IsEmpty)
        {
            var length = segment[0] == '.' ? 1 : segment.StartsWith("%2e", StringComparison.OrdinalIgnoreCase) ? 3 : 0;
            if (length == 0 || ++dots > 2)
            {
                return false;
            }

            segment = segment[length..];
        }

        return dots > 0;
    }

    /// <summary>The segment with this number, counted from 0, still encoded; empty when there is none.</summary>
    public static ReadOnlySpan<char> Segment(ReadOnlySpan<char> path, int index)
    {
        foreach (var range in path.Split('/'))
        {
            // The first piece is what stands before the leading slash.
            if (index-- < 0)
            {
                return path[range];
            }
        }

        return [];
    }

    // Other schemes have other rules for what a host and a path are; none of them is ours.
    private static ReadOnlySpan<char> PathOfAbsolute(ReadOnlySpan<char> target)
    {
        var scheme = target.StartsWith("http://") ? "http://".Length : target.StartsWith("https://") ? "https://".Length : 0;
        var rest = target[scheme..];
        var authority = scheme == 0 || rest.ContainsAnyExcept(Plain) ? 0 : rest.IndexOf('/');
        return authority <= 0 ? [] : rest[authority..];
    }
}
