using System.Collections.Concurrent;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Pnh.Channels.Provider.Connections;

/// <summary>
/// Whom provider connections believe. Everybody is held against the system's trust, except origins that were given an authority of their
/// own (the sandbox): those are held against that one alone. Thread-safe; takes effect from the next connection on.
/// </summary>
public sealed class ProviderTrust
{
    private static readonly Oid ServerAuthentication = new("1.3.6.1.5.5.7.3.1");

    private readonly ConcurrentDictionary<string, X509Certificate2> _authorities = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>
    /// Trusts <paramref name="authority"/>, and nothing else, for the host and port of <paramref name="origin"/>. Calling it again replaces
    /// the authority. The certificate stays the caller's and must outlive the connections.
    /// </summary>
    public void Trust(Uri origin, X509Certificate2 authority) => _authorities[Key(origin)] = authority;

    /// <summary>TLS options for connections to one origin. The host name is always checked, revocation never (no provider staples, none is reachable offline).</summary>
    internal SslClientAuthenticationOptions OptionsFor(Uri origin)
    {
        var key = Key(origin);
        return new SslClientAuthenticationOptions
        {
            RemoteCertificateValidationCallback = (_, certificate, chain, errors) => IsTrusted(key, certificate, chain, errors),
        };
    }

    private bool IsTrusted(string origin, X509Certificate? certificate, X509Chain? presented, SslPolicyErrors errors)
    {
        if (!_authorities.TryGetValue(origin, out var authority))
        {
            return errors == SslPolicyErrors.None;
        }

        // A chain error is what a private authority looks like to the system; a wrong host name or no certificate stays an error.
        if ((errors & ~SslPolicyErrors.RemoteCertificateChainErrors) != SslPolicyErrors.None || certificate is not X509Certificate2 server)
        {
            return false;
        }

        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(authority);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.DisableCertificateDownloads = true;
        chain.ChainPolicy.ApplicationPolicy.Add(ServerAuthentication);
        foreach (var element in presented?.ChainElements ?? Enumerable.Empty<X509ChainElement>())
        {
            chain.ChainPolicy.ExtraStore.Add(element.Certificate);
        }

        return chain.Build(server);
    }

    private static string Key(Uri origin) => $"{origin.IdnHost}:{origin.Port}";
}
