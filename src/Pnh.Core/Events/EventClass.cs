namespace Pnh.Core.Events;

/// <summary>How urgent an event is; decides queues, deadlines and what overload sheds first. Numbers are stored: never renumber.</summary>
public enum EventClass
{
    /// <summary>Least latency: rings. Never delayed behind anything, worthless when late.</summary>
    Call = 0,

    /// <summary>Text and the like: throughput, kept until the device has it or the TTL ends. The default.</summary>
    Message = 1,

    /// <summary>Campaigns: low priority everywhere.</summary>
    Bulk = 2,

    /// <summary>Typing, presence, tickers: live sessions only, in memory, never pushed, dropped first.</summary>
    Transient = 3,
}

/// <summary>The names of <see cref="EventClass"/> as they stand in JSON, configuration and metric labels.</summary>
public static class EventClassNames
{
    /// <summary>All classes, in the order of their numbers.</summary>
    public static ReadOnlySpan<EventClass> All => [EventClass.Call, EventClass.Message, EventClass.Bulk, EventClass.Transient];

    /// <summary>The name of <paramref name="value"/>; throws on a value outside the enum.</summary>
    public static string Label(this EventClass value) => value switch
    {
        EventClass.Call => "call",
        EventClass.Message => "message",
        EventClass.Bulk => "bulk",
        EventClass.Transient => "transient",
        _ => throw new ArgumentOutOfRangeException(nameof(value), value, null),
    };

    /// <summary>Reads a name; false when it is not one of the four.</summary>
    public static bool TryParse(ReadOnlySpan<char> name, out EventClass value)
    {
        foreach (var candidate in All)
        {
            if (name.SequenceEqual(candidate.Label()))
            {
                value = candidate;
                return true;
            }
        }

        value = default;
        return false;
    }
}
