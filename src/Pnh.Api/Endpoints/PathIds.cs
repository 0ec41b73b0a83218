using System.Text;
using Microsoft.AspNetCore.Http.Features;

namespace Pnh.Api.Endpoints;

/// <summary>
/// Ids out of the request path. Read from the raw target, because the server leaves <c>%2F</c> as it is but decodes the rest, so that
/// <c>a/b</c> and <c>a%2Fb</c> would look alike in a route value.
/// </summary>
internal static class PathIds
{
    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>The decoded segment at <paramref name="index"/> (0 = <c>v1</c>); null when it is no allowed id.</summary>
    public static string? Name(HttpContext context, int index) =>
        Segment(context, index) is { } text && Core.Events.Ids.IsName(text) ? text : null;

    private static string? Segment(HttpContext context, int index)
    {
        var target = (context.Features.Get<IHttpRequestFeature>()?.RawTarget ?? context.Request.Path.Value!).AsSpan();
        var query = target.IndexOf('?');
        var path = query < 0 ? target : target[..query];
        var position = 0;
        foreach (var range in path.TrimStart('/').Split('/'))
        {
            if (position++ == index)
            {
                return Decode(path.TrimStart('/')[range]);
            }
        }

        return null;
    }

    private static string? Decode(ReadOnlySpan<char> segment)
    {
        if (!segment.Contains('%'))
        {
            return segment.ToString();
        }

        var bytes = new byte[segment.Length];
        var length = 0;
        for (var i = 0; i < segment.Length; i++)
        {
            if (segment[i] != '%')
            {
                bytes[length++] = (byte)segment[i];
            }
            else if (i + 2 < segment.Length && byte.TryParse(segment.Slice(i + 1, 2), System.Globalization.NumberStyles.AllowHexSpecifier, null, out bytes[length]))
            {
                length++;
                i += 2;
            }
            else
            {
                return null;
            }
        }

        try
        {
            return StrictUtf8.GetString(bytes, 0, length);
        }
        catch (DecoderFallbackException)
        {
            return null;
        }
    }
}
