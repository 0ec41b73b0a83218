using Pnh.Core.Diagnostics.Exposition;

namespace Pnh.Core.Diagnostics;

/// <summary>What a provider channel reports of itself besides its connections and requests.</summary>
public enum ProviderReading
{
    /// <summary>Dials since the start; label <c>result</c>: <c>opened</c>, <c>failed</c>.</summary>
    Dials,

    /// <summary>Connections that took no more requests, since the start; label <c>cause</c>: <c>goaway</c>, <c>goaway_error</c>, <c>lost</c>, <c>stalled</c>, <c>idle</c>, <c>lifetime</c>, <c>retired</c>.</summary>
    ConnectionEnds,

    /// <summary>Circuit breakers that are open or half open.</summary>
    OpenBreakers,

    /// <summary>Seconds until a credential is of no more use, negative when it is past; label <c>account</c>: its configuration name.</summary>
    CredentialSecondsLeft,

    /// <summary>Credential files that were read again after a change; label <c>result</c>: <c>taken</c>, <c>refused</c>.</summary>
    CredentialReloads,

    /// <summary>How far our clock is ahead of the provider's, in seconds; negative = behind.</summary>
    ClockSkew,
}

/// <summary>Names of <see cref="ProviderReading"/>. A test pins them.</summary>
internal static class ProviderReadings
{
    /// <summary>One family each, by number.</summary>
    internal static ReadingFamily[] Families(CollectFeed feed) =>
    [
        feed.CounterReadings("pnh_provider_dials_total", "Connections dialled to a provider.", "channel", "result"),
        feed.CounterReadings("pnh_provider_connection_ends_total", "Connections to a provider that took no more requests.", "channel", "cause"),
        feed.Gauges("pnh_provider_breakers_open", "Circuit breakers that keep requests from a provider.", Fold.Sum, "channel"),
        feed.Gauges("pnh_provider_credential_left_seconds", "Time until a provider credential is of no more use.", Fold.Max, "channel", "account"),
        feed.CounterReadings("pnh_provider_credential_reloads_total", "Credential files read again after a change.", "channel", "result"),
        feed.Gauges("pnh_provider_clock_skew_seconds", "How far our clock is ahead of the provider's.", Fold.Max, "channel"),
    ];

    internal static bool HasLabel(ProviderReading reading) => reading is not (ProviderReading.OpenBreakers or ProviderReading.ClockSkew);
}
