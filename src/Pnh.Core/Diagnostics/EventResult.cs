namespace Pnh.Core.Diagnostics;

/// <summary>What the hub answered to one event. Labels of <c>pnh_events_total{result}</c>.</summary>
public enum EventResult
{
    /// <summary>202: in the journal (or, transient, handed on).</summary>
    Accepted = 0,

    /// <summary>202 again: same id, same body.</summary>
    Duplicate = 1,

    /// <summary>409: same id, other body.</summary>
    Conflict = 2,

    /// <summary>400 or 413: something in the body is wrong.</summary>
    Invalid = 3,

    /// <summary>429: the hub sheds load.</summary>
    Overloaded = 4,

    /// <summary>503: journal or store is not there.</summary>
    Unavailable = 5,
}

/// <summary>Names of <see cref="EventResult"/> as metric labels.</summary>
public static class EventResultNames
{
    /// <summary>How many there are: size of a table indexed by result.</summary>
    public const int Count = 6;

    /// <summary>Snake-case label; throws on a value outside the enum.</summary>
    public static string Label(this EventResult result) => result switch
    {
        EventResult.Accepted => "accepted",
        EventResult.Duplicate => "duplicate",
        EventResult.Conflict => "conflict",
        EventResult.Invalid => "invalid",
        EventResult.Overloaded => "overloaded",
        EventResult.Unavailable => "unavailable",
        _ => throw new ArgumentOutOfRangeException(nameof(result), result, null),
    };
}
