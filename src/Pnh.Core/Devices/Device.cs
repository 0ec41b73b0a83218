namespace Pnh.Core.Devices;

/// <summary>A user of an app: the key of everything that belongs to one person.</summary>
public readonly record struct UserKey(string App, string User);

/// <summary>A device's operating system as far as channels care.</summary>
public enum Platform
{
    /// <summary>iPhone, iPad, watch.</summary>
    Ios,

    /// <summary>Android.</summary>
    Android,

    /// <summary>A browser, or any socket whose device is not registered.</summary>
    Web,

    /// <summary>A desktop program.</summary>
    Desktop,
}

/// <summary>One installation of an app, by the id that the client chose. Immutable: a registration replaces the whole record.</summary>
public sealed record Device
{
    /// <summary>Chosen by the client, unique per user.</summary>
    public required string Id { get; init; }

    /// <summary>Operating system.</summary>
    public required Platform Platform { get; init; }

    /// <summary>Push addresses over all channels; empty = reachable by socket only.</summary>
    public IReadOnlyList<PushAddress> Addresses { get; init; } = [];

    /// <summary>BCP 47 locale for localised texts; null = the default texts.</summary>
    public string? Locale { get; init; }

    /// <summary>The app's version, as the client states it; null = unknown.</summary>
    public string? AppVersion { get; init; }

    /// <summary>When the record was last written by a registration.</summary>
    public required DateTimeOffset RegisteredAt { get; init; }
}

/// <summary>
/// Where a provider reaches a device. Immutable. The same (app, channel, kind, value) exists once: registering it elsewhere moves it.
/// </summary>
/// <param name="Channel">Channel name: <c>apns</c>, <c>fcm</c>, ….</param>
/// <param name="Kind">What the channel calls it: <c>token</c>, <c>voipToken</c>, <c>liveActivityToken</c>, <c>fid</c>, ….</param>
/// <param name="Value">The secret part. Never logged, never a label.</param>
/// <param name="Scope">What else the channel needs to route it, in the channel's own form (APNs: <c>environment/topic</c>); empty = nothing. Shared by many devices, so interned.</param>
/// <param name="RegisteredAt">Last time a client confirmed it; a provider's older "gone" does not remove it.</param>
public sealed record PushAddress(string Channel, string Kind, string Value, string Scope, DateTimeOffset RegisteredAt)
{
    /// <summary>Without the value, so that no log can leak it.</summary>
    public override string ToString() => $"{Channel}/{Kind}";
}
