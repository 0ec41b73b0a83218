namespace Pnh.Core.Hubs;

/// <summary>What became of an event at the door.</summary>
public enum AcceptStatus
{
    /// <summary>Taken: a 202. When durable, it is on stable storage.</summary>
    Accepted,

    /// <summary>Same id, same body as before: the first answer again.</summary>
    Duplicate,

    /// <summary>Same id, other body: a 409. Nothing was taken.</summary>
    Conflict,

    /// <summary>Too much of this class waits already: a 429. Nothing was taken or written.</summary>
    Overloaded,

    /// <summary>Stable storage refuses to write: a 503. Nothing was taken.</summary>
    Unavailable,

    /// <summary>The hub stops: a 503. Nothing was taken.</summary>
    Stopping,

    /// <summary>The memory for what waits is used up, as far as this class may: a 503. Nothing was taken or written.</summary>
    MemoryFull,
}

/// <summary>The answer to a publisher.</summary>
/// <param name="Status">What became of it.</param>
/// <param name="Detail">For people; null when accepted.</param>
/// <param name="RetryAfter">When to try again; null unless overloaded, unavailable or stopping.</param>
public readonly record struct AcceptResult(AcceptStatus Status, string? Detail = null, TimeSpan? RetryAfter = null)
{
    /// <summary>True when it was for one user or device, and is known to reach nothing: there was no device.</summary>
    public bool HasNoDevices { get; init; }
}
