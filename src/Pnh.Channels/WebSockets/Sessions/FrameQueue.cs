using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// First in, first out over references to shared frames, with their bytes summed. A struct inside the session, without an array while it is
/// empty for long: an idle session costs no buffer. Not thread-safe: the session's lock guards it.
/// </summary>
internal struct FrameQueue
{
    private const int FirstCapacity = 4;

    /// <summary>An emptied array of more slots than this is given back.</summary>
    private const int KeptCapacity = 8;

    private Frame?[]? _slots;
    private int _head;

    /// <summary>Frames in it.</summary>
    public int Count { get; private set; }

    /// <summary>Their shared bytes.</summary>
    public int Bytes { get; private set; }

    /// <summary>Appends; the bound is the session's business.</summary>
    public void Enqueue(Frame frame)
    {
        if (_slots is null || Count == _slots.Length)
        {
            Grow();
        }

        _slots![(_head + Count) & (_slots.Length - 1)] = frame;
        Count++;
        Bytes += frame.Tail.Length;
    }

    /// <summary>Takes the oldest; null when empty.</summary>
    public Frame? Dequeue()
    {
        if (Count == 0)
        {
            return null;
        }

        var frame = _slots![_head]!;
        _slots[_head] = null;
        _head = (_head + 1) & (_slots.Length - 1);
        Count--;
        Bytes -= frame.Tail.Length;
        if (Count == 0 && _slots.Length > KeptCapacity)
        {
            _slots = null;
            _head = 0;
        }

        return frame;
    }

    /// <summary>The frame at a place, 0 = oldest.</summary>
    public readonly Frame this[int place] => _slots![(_head + place) & (_slots.Length - 1)]!;

    /// <summary>Puts another frame in a place.</summary>
    public void Replace(int place, Frame frame)
    {
        ref var slot = ref _slots![(_head + place) & (_slots.Length - 1)];
        Bytes += frame.Tail.Length - slot!.Tail.Length;
        slot = frame;
    }

    /// <summary>
    /// Removes every frame for which <paramref name="isSuperfluous"/> says so, keeping the others' order. O(n): for crowded queues only.
    /// </summary>
    public void RemoveAll<TState>(TState state, Func<Frame, TState, bool> isSuperfluous)
    {
        var count = Count;
        for (var i = 0; i < count; i++)
        {
            var frame = Dequeue()!;
            if (!isSuperfluous(frame, state))
            {
                Enqueue(frame);
            }
        }
    }

    /// <summary>Adds the ids of the events in it that have a seq.</summary>
    public readonly void CopyEvents(ICollection<string> ids)
    {
        for (var i = 0; i < Count; i++)
        {
            if (this[i] is { HasSeq: true, Event: not null } frame)
            {
                ids.Add(frame.EventId);
            }
        }
    }

    /// <summary>Forgets everything.</summary>
    public void Clear() => this = default;

    // Powers of two, so that wrapping is a mask.
    private void Grow()
    {
        var grown = new Frame?[Math.Max(FirstCapacity, Count * 2)];
        for (var i = 0; i < Count; i++)
        {
            grown[i] = this[i];
        }

        _slots = grown;
        _head = 0;
    }
}
