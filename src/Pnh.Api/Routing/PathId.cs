using System.Diagnostics.CodeAnalysis;
using System.Text;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing.Patterns;

namespace Pnh.Api.Routing;

/// <summary>
/// Ids out of the path, decoded exactly once from what came over the wire. Route values must not be used for ids: the server leaves
/// <c>%2F</c> alone but turns <c>%252F</c> into the same text, so two different users would look alike.
/// </summary>
internal static class PathId
{
    /// <summary>Route parameter of a user's id; access rules for owners read it.</summary>
    public const string User = "user";

    /// <summary>Route parameter of a device's id; access rules for owners read it.</summary>
    public const string Device = "device";

    private static readonly UTF8Encoding StrictUtf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    /// <summary>
    /// The id in a route parameter that fills a segment of its own; false when it is not proper UTF-8 or an escape is broken. Whether it is an
    /// allowed id is for the caller to check. Throws when the endpoint has no such parameter.
    /// </summary>
    public static bool TryRead(HttpContext context, string parameter, [NotNullWhen(true)] out string? id)
    {
        id = context.Request.RouteValues[parameter] as string;
        if (id is not null && !id.Contains('%', StringComparison.Ordinal) && !HasEscapes(context))
        {
            return true;
        }

        var path = RequestTarget.Path(context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget);
        return TryDecode(RequestTarget.Segment(path, IndexOf(context, parameter)), out id);
    }

    /// <summary>Decodes one segment (RFC 3986 section 2.1); false when an escape is broken or the bytes are no UTF-8.</summary>
    public static bool TryDecode(ReadOnlySpan<char> segment, [NotNullWhen(true)] out string? text)
    {
        text = null;
        Span<byte> utf8 = segment.Length <= 1024 ? stackalloc byte[segment.Length * 3] : new byte[segment.Length * 3];
        var length = 0;
        while (!segment.IsEmpty)
        {
            if (segment[0] != '%')
            {
                length += Encoding.UTF8.GetBytes(segment[..1], utf8[length..]);
                segment = segment[1..];
                continue;
            }

            if (segment.Length < 3 || !char.IsAsciiHexDigit(segment[1]) || !char.IsAsciiHexDigit(segment[2]))
            {
                return false;
            }

            utf8[length++] = (byte)((FromHex(segment[1]) << 4) | FromHex(segment[2]));
            segment = segment[3..];
        }

        try
        {
            text = StrictUtf8.GetString(utf8[..length]);
            return true;
        }
        catch (DecoderFallbackException)
        {
            return false;
        }
    }

    private static bool HasEscapes(HttpContext context) =>
        RequestTarget.Path(context.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget).Contains('%');

    private static int IndexOf(HttpContext context, string parameter)
    {
        var segments = ((RouteEndpoint)context.GetEndpoint()!).RoutePattern.PathSegments;
        for (var i = 0; i < segments.Count; i++)
        {
            if (segments[i].IsSimple && segments[i].Parts[0] is RoutePatternParameterPart part && part.Name == parameter)
            {
                return i;
            }
        }

        throw new InvalidOperationException($"The route has no parameter {parameter} that fills a segment.");
    }

    private static int FromHex(char digit) => char.IsAsciiDigit(digit) ? digit - '0' : (digit | 0x20) - 'a' + 10;
}
