namespace Pnh.Api.FrontDoor;

/// <summary>
/// Reads request targets as they came over the wire (RFC 9112 section 3.2). The server's own decoded path is not enough: it folds dot
/// segments, and it leaves <c>%2F</c> and <c>%252F</c> looking the same. Pure functions, no allocation unless a text is decoded.
/// </summary>
internal static class RequestTarget
{
    /// <summary>
    /// The path of a target, without the query, still encoded; empty when there is none (<c>*</c>, an authority). In the absolute form
    /// (<c>http://host/path</c>) escapes are not taken, because the server decodes those paths by other rules: the path is empty then too.
    /// </summary>
    public static ReadOnlySpan<char> Path(ReadOnlySpan<char> target)
    {
        var absolute = false;
        if (!target.StartsWith('/'))
        {
            var scheme = target.IndexOf("://");
            var authority = scheme < 0 ? -1 : target[(scheme + 3)..].IndexOf('/');
            if (authority < 0)
            {
                return [];
            }

            target = target[(scheme + 3 + authority)..];
            absolute = true;
        }

        var query = target.IndexOf('?');
        var path = query < 0 ? target : target[..query];
        return absolute && path.Contains('%') ? [] : path;
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
}
