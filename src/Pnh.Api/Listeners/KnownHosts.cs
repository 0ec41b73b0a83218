using System.Net;

namespace Pnh.Api.Listeners;

/// <summary>Under which names the operations listener answers, whatever the port: a stranger's name that was re-pointed at this machine (DNS rebinding) is not one of them.</summary>
/// <param name="names">Configured ones; loopback is known without.</param>
internal sealed class KnownHosts(IReadOnlyCollection<string> names)
{
    /// <summary>True when the Host header names this machine's loopback or a configured name.</summary>
    public bool Contains(HostString host) =>
        host.HasValue && (host.Host is "localhost" or "127.0.0.1" or "[::1]" || names.Contains(host.Host, StringComparer.OrdinalIgnoreCase));

    /// <summary>The same for what is no page: also an address, or a name without a dot, under which scrapers ask.</summary>
    public bool MayScrape(HostString host) => Contains(host) || (host.HasValue && (!host.Host.Contains('.') || IPAddress.TryParse(host.Host, out _)));
}
