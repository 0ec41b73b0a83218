namespace Pnh.Core.Sessions;

/// <summary>Events that ended before a device took them: its client is told once, with its next welcome.</summary>
/// <param name="Count">How many; 0 = none.</param>
/// <param name="Since">When the oldest of them was accepted, in Unix milliseconds.</param>
public readonly record struct MissedEvents(int Count, long Since)
{
    /// <summary>These and those.</summary>
    public MissedEvents And(MissedEvents other) =>
        Count == 0 ? other : other.Count == 0 ? this : new MissedEvents(Count + other.Count, Math.Min(Since, other.Since));
}
