using System.Runtime.CompilerServices;

namespace Pnh.Core.Timing;

/// <summary>
/// What is done once a second, by one timer for each clock. A timer of its own for each wakes the thread of timers twice and one of the pool or two: those of a hub with one
/// edge, nine a second, were a third of its context switches at rest. Thread-safe.
/// </summary>
public sealed class SecondHand
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly ConditionalWeakTable<TimeProvider, SecondHand> Hands = [];

    private readonly Lock _gate = new();
    private ITimer? _timer;
    private Entry[] _entries = [];

    private SecondHand()
    {
    }

    /// <summary>
    /// Calls <paramref name="tick"/> each second of <paramref name="time"/> until the answer is disposed of: the first time within a second, and not at once. One call comes after the other,
    /// so it has to be short and must not throw. One that is under way when the answer is disposed of goes on.
    /// </summary>
    public static IDisposable Each(TimeProvider time, Action tick)
    {
        ArgumentNullException.ThrowIfNull(time);
        ArgumentNullException.ThrowIfNull(tick);
        var hand = Hands.GetValue(time, static _ => new SecondHand());
        var entry = new Entry(hand, tick);
        hand.Add(entry, time);
        return entry;
    }

    private void Add(Entry entry, TimeProvider time)
    {
        lock (_gate)
        {
            _entries = [.. _entries, entry];
            _timer ??= time.CreateTimer(static hand => ((SecondHand)hand!).Tick(), this, Second, Second);
        }
    }

    private void Remove(Entry entry)
    {
        lock (_gate)
        {
            _entries = [.. _entries.Where(other => other != entry)];
            if (_entries is [])
            {
                _timer?.Dispose();
                _timer = null;
            }
        }
    }

    private void Tick()
    {
        foreach (var entry in Volatile.Read(ref _entries))
        {
            entry.Tick();
        }
    }

    private sealed class Entry(SecondHand hand, Action tick) : IDisposable
    {
        public void Tick() => tick();

        public void Dispose() => hand.Remove(this);
    }
}
