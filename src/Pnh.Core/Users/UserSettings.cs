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

    /// <summary>What becomes of pushes that <see cref="QuietHours"/> or <see cref="DoNotDisturbUntil"/> keep back.</summary>
    public QuietMode Mode { get; init; }

    /// <summary>True when the time of the day may matter to a push.</summary>
    public bool MayBeQuiet => QuietHours is not null || DoNotDisturbUntil is not null;

    /// <summary>When pushes go again that are kept back at <paramref name="now"/>, by the machine's clock; <paramref name="now"/> itself when none is.</summary>
    /// <param name="isCall">Quiet hours let calls through.</param>
    /// <param name="now">The machine's time.</param>
    public DateTimeOffset QuietUntil(bool isCall, DateTimeOffset now)
    {
        // Either may begin before the other ends.
        var until = DoNotDisturbUntil is { } end && end > now ? end : now;
        return !isCall && QuietHours is { } hours && hours.Contains(until) ? hours.EndAfter(until) : until;
    }
}

/// <summary>What becomes of a push that quiet hours or "do not disturb" keep back. Numbers are stored: never renumber.</summary>
public enum QuietMode
{
    /// <summary>It waits until they end.</summary>
    Hold = 0,

    /// <summary>It is not made at all.</summary>
    Drop = 1,
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

    /// <summary>The first moment after <paramref name="now"/>, which lies inside, that does not. Where clocks are set meanwhile it is the end on the wall: earlier or later by the step, or the step itself.</summary>
    public DateTimeOffset EndAfter(DateTimeOffset now)
    {
        var zone = TimeZones.Find(TimeZone) ?? TimeZoneInfo.Utc;
        var local = TimeZoneInfo.ConvertTime(now, zone);

        // A difference of times of the day wraps around midnight.
        var end = now + (To - TimeOnly.FromTimeSpan(local.TimeOfDay));
        var step = zone.GetUtcOffset(end) - local.Offset;
        if (step == TimeSpan.Zero)
        {
            return end;
        }

        // The clocks were set forward over the end, or back before it: quiet until the first whole minute that is not.
        end = step > TimeSpan.Zero ? end - step : end;
        while (end <= now || Contains(end))
        {
            end += OneMinute;
        }

        return end;
    }

    private static readonly TimeSpan OneMinute = TimeSpan.FromMinutes(1);
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

    /// <summary>The device; null = the user has none of that id.</summary>
    public Device? Find(string device)
    {
        // By index, as each attempt of a push asks: an enumerator would be allocated.
        for (var i = 0; i < Devices.Count; i++)
        {
            if (string.Equals(Devices[i].Id, device, StringComparison.Ordinal))
            {
                return Devices[i];
            }
        }

        return null;
    }

    /// <summary>False = the registry has nothing of the user, and knows of no deletion: if events of theirs are open, their rows were lost.</summary>
    public bool IsKnown { get; private init; } = true;
}
