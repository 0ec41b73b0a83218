namespace Pnh.Core.Users;

/// <summary>A user's notification configuration. Immutable; <see cref="Default"/> when none was stored.</summary>
public sealed record UserSettings
{
    /// <summary>Nothing muted.</summary>
    public static UserSettings Default { get; } = new();

    /// <summary>Classes that reach the user on no channel, by name.</summary>
    public IReadOnlyList<string> MutedClasses { get; init; } = [];

    /// <summary>Topics whose events reach the user on no channel.</summary>
    public IReadOnlyList<string> MutedTopics { get; init; } = [];

    /// <summary>Daily span without pushes (calls still ring); null = none.</summary>
    public QuietHours? QuietHours { get; init; }

    /// <summary>No push at all, calls included, before this moment; null = none. Open sockets still get events.</summary>
    public DateTimeOffset? DoNotDisturbUntil { get; init; }
}

/// <summary>A daily span on the user's clock; <c>From</c> later than <c>To</c> spans midnight, equal = empty.</summary>
/// <param name="From">Start, inclusive.</param>
/// <param name="To">End, exclusive.</param>
/// <param name="TimeZone">IANA name, e.g. <c>Europe/Berlin</c>.</param>
public sealed record QuietHours(TimeOnly From, TimeOnly To, string TimeZone)
{
    /// <summary>True when <paramref name="now"/> lies inside. An unknown zone counts as UTC (it was checked when stored).</summary>
    public bool Contains(DateTimeOffset now)
    {
        var zone = TimeZones.Find(TimeZone) ?? TimeZoneInfo.Utc;
        return TimeOnly.FromTimeSpan(TimeZoneInfo.ConvertTime(now, zone).TimeOfDay).IsBetween(From, To);
    }
}

/// <summary>What the plan needs to know of a user, read at once. Immutable snapshot.</summary>
/// <param name="Devices">Registered devices, oldest first.</param>
/// <param name="Settings">Notification configuration.</param>
public sealed record UserSnapshot(IReadOnlyList<Device> Devices, UserSettings Settings)
{
    /// <summary>An unknown user.</summary>
    public static UserSnapshot Empty { get; } = new([], UserSettings.Default) { IsKnown = false };

    /// <summary>A user whose last device was deleted, and who has no settings.</summary>
    public static UserSnapshot Gone { get; } = new([], UserSettings.Default);

    /// <summary>False = the registry has nothing of the user, and knows of no deletion: if events of theirs are open, their rows were lost.</summary>
    public bool IsKnown { get; private init; } = true;
}
