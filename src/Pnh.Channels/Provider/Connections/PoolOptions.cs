using System.Security.Cryptography.X509Certificates;

namespace Pnh.Channels.Provider.Connections;

/// <summary>What differs between providers about connections. Immutable.</summary>
internal sealed record PoolOptions
{
    /// <summary>Scheme, host and port.</summary>
    public required Uri Origin { get; init; }

    /// <summary>Connections at once, at least 1; those that drain come on top.</summary>
    public required int MaxConnections { get; init; }

    /// <summary>Requests at once on a proven connection; the peer's SETTINGS may say less.</summary>
    public required int MaxInFlight { get; init; }

    /// <summary>One request at a time until the first authenticated answer.</summary>
    public bool StartsCold { get; init; }

    /// <summary>After this long a connection is replaced, which is the only way to see DNS move. Up to a tenth longer, so that they do not end together.</summary>
    public required TimeSpan Lifetime { get; init; }

    /// <summary>Closed after this long without a request.</summary>
    public required TimeSpan IdleTimeout { get; init; }

    /// <summary>Given up when requests have waited this long without any answer: longer than an attempt may take, so that a slow answer is no stall.</summary>
    public required TimeSpan StallAfter { get; init; }

    /// <summary>False: pinged only with requests under way.</summary>
    public bool PingsWhenIdle { get; init; }

    /// <summary>The client certificate to show, asked for at each dial; null = none.</summary>
    public Func<X509Certificate2?>? Certificate { get; init; }

    /// <summary>For suspect addresses: one connection, few requests at once, so that neither their refusals nor a cut costs anybody else.</summary>
    public PoolOptions ForQuarantine() => this with { MaxConnections = 1, MaxInFlight = 20 };
}
