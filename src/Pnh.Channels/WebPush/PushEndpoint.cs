using System.Buffers;
using System.Globalization;
using System.Text;

namespace Pnh.Channels.WebPush;

/// <summary>The address of a browser at its push service, in one spelling (RFC 3986 sections 6.2.2 and 6.2.3): two texts that name one resource give one address. Pure functions.</summary>
internal static class PushEndpoint
{
    /// <summary>Windows' are the longest, at some 700 characters.</summary>
    private const int MaxCharacters = 2048;

    private const string Unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    // RFC 3986: what may stand in an address, without the fragment's mark.
    private static readonly SearchValues<char> Characters = SearchValues.Create(Unreserved + ":/?[]@!$&'()*+,;=%");

    /// <summary>
    /// An https address in ASCII, without user, password or fragment, whose <see cref="Uri.AbsoluteUri"/> is the one spelling; null for anything else. Where it leads is judged when it is dialled.
    /// </summary>
    public static Uri? Parse(string text) =>
        text.Length <= MaxCharacters
        && !text.AsSpan().ContainsAnyExcept(Characters)
        && Uri.TryCreate(Decoded(text), UriKind.Absolute, out var endpoint)
        && endpoint.Scheme == Uri.UriSchemeHttps && endpoint.UserInfo.Length == 0 && endpoint.Host.Length > 0 && endpoint.AbsoluteUri.Length <= MaxCharacters
            ? endpoint
            : null;

    // The framework lowers scheme and host, leaves out port 443, adds a path and takes out dot segments; it leaves escapes as they came.
    private static string Decoded(string text)
    {
        if (!text.Contains('%', StringComparison.Ordinal))
        {
            return text;
        }

        var decoded = new StringBuilder(text.Length);
        for (var i = 0; i < text.Length; i++)
        {
            if (text[i] != '%' || i + 2 >= text.Length || !byte.TryParse(text.AsSpan(i + 1, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out var code))
            {
                decoded.Append(text[i]);
                continue;
            }

            if (Unreserved.Contains((char)code, StringComparison.Ordinal))
            {
                decoded.Append((char)code);
            }
            else
            {
                decoded.Append(CultureInfo.InvariantCulture, $"%{code:X2}");
            }

            i += 2;
        }

        return decoded.ToString();
    }
}
