using System.Text.RegularExpressions;

namespace Pnh.Api.Configuration;

/// <summary>Passwords in URLs (RFC 3986 section 3.2.1), which no line shall show.</summary>
internal static partial class UrlPassword
{
    /// <summary>The text with each of them hidden.</summary>
    public static string Hide(string text) => InUrl().Replace(text, "$1(hidden)@");

    [GeneratedRegex(@"(://[^\s/?#@:]*:)[^\s/?#]*@", RegexOptions.CultureInvariant)]
    private static partial Regex InUrl();
}
