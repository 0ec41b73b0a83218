using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;

namespace Pnh.Api.Configuration;

/// <summary>
/// Where a listener listens: <c>http(s)://host:port</c>. Host is <c>localhost</c>, an IP address, or <c>*</c>, <c>+</c> for all addresses.
/// Other names are refused: the server would take them for all addresses, which is not what they say.
/// </summary>
/// <param name="IsHttps">TLS, with the certificate of Kestrel's own configuration.</param>
/// <param name="Address">The IP address; null = localhost, both IPv4 and IPv6.</param>
/// <param name="Port">0 = any free port.</param>
internal sealed record ListenAddress(bool IsHttps, IPAddress? Address, int Port)
{
    /// <summary>True when nothing but this machine can connect.</summary>
    public bool IsLoopback => Address is null || IPAddress.IsLoopback(Address);

    /// <summary>Reads the text form; false when the text is no address.</summary>
    public static bool TryParse(string text, [NotNullWhen(true)] out ListenAddress? address)
    {
        address = null;
        var isHttps = text.StartsWith("https://", StringComparison.OrdinalIgnoreCase);
        if (!isHttps && !text.StartsWith("http://", StringComparison.OrdinalIgnoreCase))
        {
            return false;
        }

        var authority = text.AsSpan(isHttps ? 8 : 7).TrimEnd('/');
        var colon = authority.LastIndexOf(':');
        var hasPort = colon >= 0 && !authority.EndsWith("]");
        var port = isHttps ? 443 : 80;
        if (hasPort && !(int.TryParse(authority[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out port) && port <= 65535))
        {
            return false;
        }

        return TryParseHost(hasPort ? authority[..colon] : authority, out var host) && (address = new(isHttps, host, port)) is not null;
    }

    /// <summary>Reads those of the texts that are addresses; the rules of the settings name the others.</summary>
    public static List<ListenAddress> ParseAll(IEnumerable<string> texts) => [.. texts.Select(static text => TryParse(text, out var address) ? address : null).OfType<ListenAddress>()];

    /// <summary>Where a client on this machine finds it.</summary>
    public Uri ToClientUri()
    {
        var host = Address is null || Address.Equals(IPAddress.Any) || Address.Equals(IPAddress.IPv6Any) ? "localhost" : Address.ToString();
        return new UriBuilder(IsHttps ? "https" : "http", host, Port).Uri;
    }

    /// <summary>The text form.</summary>
    public override string ToString()
    {
        var host = Address switch
        {
            null => "localhost",
            { AddressFamily: System.Net.Sockets.AddressFamily.InterNetworkV6 } => $"[{Address}]",
            _ => Address.ToString(),
        };
        return string.Create(CultureInfo.InvariantCulture, $"{(IsHttps ? "https" : "http")}://{host}:{Port}");
    }

    private static bool TryParseHost(ReadOnlySpan<char> host, out IPAddress? address)
    {
        address = null;
        if (host.Equals("localhost", StringComparison.OrdinalIgnoreCase))
        {
            return true;
        }

        if (host is "*" or "+")
        {
            address = IPAddress.IPv6Any;
            return true;
        }

        var isBracketed = host.StartsWith('[') && host.EndsWith(']');
        return isBracketed == host.Contains(':') && IPAddress.TryParse(isBracketed ? host[1..^1] : host, out address);
    }
}
