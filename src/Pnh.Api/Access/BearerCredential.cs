using Microsoft.Extensions.Primitives;

namespace Pnh.Api.Access;

/// <summary>The credential of an Authorization header (RFC 6750 section 2.1). No allocation.</summary>
internal static class BearerCredential
{
    private const string Scheme = "Bearer";

    /// <summary>What follows <c>Bearer</c>; empty when the header is missing, of another scheme, or there are several.</summary>
    public static ReadOnlySpan<char> Read(StringValues header) => header.Count == 1 ? Read(header.ToString()) : [];

    /// <summary>The same for the one value that there is.</summary>
    public static ReadOnlySpan<char> Read(ReadOnlySpan<char> value) =>
        value.Length > Scheme.Length && value[Scheme.Length] == ' ' && value.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
            ? value[(Scheme.Length + 1)..].Trim(' ')
            : [];
}
