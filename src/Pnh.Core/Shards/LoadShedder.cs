using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>
/// Refuses the less urgent classes while work waits for a core longer than <see cref="Target"/>: <c>transient</c> and <c>bulk</c> first, then
/// <c>message</c>; a <c>call</c> never. The share that is refused grows by steps while the wait is too long and falls slowly when it is not, so
/// that it settles where the cores are just busy. Thread-safe, does not wait.
/// </summary>
public sealed class LoadShedder
{
    /// <summary>Longest wait for a core that is not overload: half of the 10 ms in which a refusal must be answered.</summary>
    internal static readonly TimeSpan Target = TimeSpan.FromMilliseconds(5);

    // In thousandths; 1,000 = all bulk and transient, 2,000 = all messages too. From nothing to all in 20 probes (0.2 s), back in 4 s: a
    // burst is over by then, and an overload that lasts would only swing with quicker steps.
    private const int Most = 2_000;
    private const int StepUp = 100;
    private const int StepDown = 5;
    private int _level;
    private long _waitTicks;

    /// <summary>How long work waited for a core at the last look.</summary>
    public TimeSpan Wait => new(Volatile.Read(ref _waitTicks));

    /// <summary>True while any class is refused in part.</summary>
    public bool IsShedding => Volatile.Read(ref _level) > 0;

    /// <summary>Takes a measurement; called some 100 times a second by one thread.</summary>
    public void Observe(TimeSpan wait)
    {
        Volatile.Write(ref _waitTicks, wait.Ticks);
        var level = Volatile.Read(ref _level);
        Volatile.Write(ref _level, Math.Clamp(wait > Target ? level + StepUp : level - StepDown, 0, Most));
    }

    /// <summary>True when an event of the class shall be refused now.</summary>
    public bool Sheds(EventClass @class)
    {
        var level = Volatile.Read(ref _level);
        if (level == 0 || @class == EventClass.Call)
        {
            return false;
        }

        var share = @class == EventClass.Message ? level - (Most / 2) : level;
        return share > 0 && Random.Shared.Next(Most / 2) < share;
    }
}
