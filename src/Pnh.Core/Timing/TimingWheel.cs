namespace Pnh.Core.Timing;

/// <summary>Something that waits on a <see cref="TimingWheel"/>: intrusive, so that scheduling allocates nothing. At most one wheel at a time.</summary>
public abstract class WheelEntry
{
    internal WheelEntry? Previous { get; set; }

    internal WheelEntry? Next { get; set; }

    internal long DueTick { get; set; }

    internal bool IsScheduled => Next is not null;
}

/// <summary>
/// Hierarchical timing wheel: schedule and cancel in O(1), whatever the number of timers. Five levels of 64 slots of 20 ms reach
/// 248 days (later ones go round again); an entry falls to a finer level as its time comes near. Not thread-safe: its shard's lock guards it.
/// </summary>
internal sealed class TimingWheel
{
    /// <summary>The finest step: half of the shortest deadline that matters (a call's 500 ms) by 1/25.</summary>
    internal static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(20);

    private const int LevelBits = 6;
    private const int SlotsPerLevel = 1 << LevelBits;
    private const int SlotMask = SlotsPerLevel - 1;
    private const int Levels = 5;
    private readonly Slot[] _slots = new Slot[Levels * SlotsPerLevel];
    private readonly TimeProvider _time;
    private readonly Action? _firstSet;
    private readonly long _start;
    private long _now;

    /// <param name="time">Its clock.</param>
    /// <param name="firstSet">Called when an entry is the only one; null = nobody wants to know.</param>
    internal TimingWheel(TimeProvider time, Action? firstSet = null)
    {
        _time = time;
        _firstSet = firstSet;
        _start = time.GetTimestamp();
        for (var i = 0; i < _slots.Length; i++)
        {
            _slots[i] = new Slot();
        }
    }

    /// <summary>How many entries wait.</summary>
    internal int Count { get; private set; }

    /// <summary>Schedules, or moves, the entry. It fires on the first <see cref="Advance"/> after the delay, never before.</summary>
    internal void Schedule(WheelEntry entry, TimeSpan delay)
    {
        Cancel(entry);
        var current = Math.Max(CurrentTick(), _now);
        if (Count == 0)
        {
            _now = current; // an empty wheel is not advanced
        }

        // Rounded up, plus the tick that is under way: late by up to one tick, never early.
        var ticks = (Math.Max(0, delay.Ticks) + Tick.Ticks - 1) / Tick.Ticks;
        entry.DueTick = current + ticks + 1;
        Insert(entry);
        if (++Count == 1)
        {
            _firstSet?.Invoke();
        }
    }

    /// <summary>Takes the entry off; nothing happens when it does not wait.</summary>
    internal void Cancel(WheelEntry entry)
    {
        if (entry.IsScheduled)
        {
            Unlink(entry);
            Count--;
        }
    }

    /// <summary>Moves every due entry to <paramref name="due"/>, in no order within a tick.</summary>
    internal void Advance(ICollection<WheelEntry> due)
    {
        if (Count == 0)
        {
            return;
        }

        var target = CurrentTick();
        while (_now < target)
        {
            _now++;
            Cascade();
            Drain(_slots[_now & SlotMask], due);
        }
    }

    private long CurrentTick() => _time.GetElapsedTime(_start).Ticks / Tick.Ticks;

    // When a level has gone round, the next slot of the level above is spread over it.
    private void Cascade()
    {
        for (var level = 1; level < Levels && (_now & ((1L << (level * LevelBits)) - 1)) == 0; level++)
        {
            var slot = _slots[(level * SlotsPerLevel) + (int)((_now >> (level * LevelBits)) & SlotMask)];
            // Up to the last entry of now: one that is due beyond the top level's reach goes to the same slot's end for another round.
            var last = slot.Previous!;
            while (slot.Next != slot)
            {
                var entry = slot.Next!;
                Unlink(entry);
                Insert(entry);
                if (entry == last)
                {
                    break;
                }
            }
        }
    }

    private void Drain(Slot slot, ICollection<WheelEntry> due)
    {
        while (slot.Next != slot)
        {
            var entry = slot.Next!;
            Unlink(entry);
            Count--;
            due.Add(entry);
        }
    }

    private void Insert(WheelEntry entry)
    {
        var distance = Math.Max(entry.DueTick, _now) ^ _now;
        var level = 0;
        while (level < Levels - 1 && distance >> ((level + 1) * LevelBits) != 0)
        {
            level++;
        }

        var slot = _slots[(level * SlotsPerLevel) + (int)((entry.DueTick >> (level * LevelBits)) & SlotMask)];
        entry.Previous = slot.Previous;
        entry.Next = slot;
        slot.Previous!.Next = entry;
        slot.Previous = entry;
    }

    private static void Unlink(WheelEntry entry)
    {
        entry.Previous!.Next = entry.Next;
        entry.Next!.Previous = entry.Previous;
        entry.Previous = null;
        entry.Next = null;
    }

    private sealed class Slot : WheelEntry
    {
        internal Slot()
        {
            Previous = this;
            Next = this;
        }
    }
}
