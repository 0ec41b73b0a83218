using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets;

/// <summary>What became of a frame that was to be queued.</summary>
internal enum Queued
{
    /// <summary>It waits to be written.</summary>
    Waiting,

    /// <summary>A transient frame for a crowded session: dropped, the session goes on.</summary>
    Dropped,

    /// <summary>A replayed frame beyond half of the room: it waits at the hub for acks.</summary>
    Later,

    /// <summary>No room: the client is too slow.</summary>
    Full,
}

/// <summary>
/// A session's frames in the order of their life: waiting (calls before the rest), then written and unacked. One bound holds for all of them
/// together. <c>seq</c> counts written frames, so the unacked ones are always the last <c>n</c> numbers. Not thread-safe: the session's lock
/// guards it.
/// </summary>
internal struct SessionBacklog
{
    private readonly int _maxItems;
    private readonly int _maxBytes;
    private FrameQueue _calls;
    private FrameQueue _others;
    private FrameQueue _unacked;
    private bool _crowded;
    private long _seq;
    private long _transients;

    public SessionBacklog(int maxItems, int maxBytes)
    {
        _maxItems = maxItems;
        _maxBytes = maxBytes;
    }

    /// <summary>Frames not written.</summary>
    public readonly int Waiting => _calls.Count + _others.Count;

    /// <summary>Frames written and not acked.</summary>
    public readonly int Unacked => _unacked.Count;

    /// <summary>Frames written, ever.</summary>
    public readonly long Sent => _seq + _transients;

    private readonly int Items => _calls.Count + _others.Count + _unacked.Count;

    private readonly int Bytes => _calls.Bytes + _others.Bytes + _unacked.Bytes;

    private readonly bool IsOverHalf => Items > _maxItems / 2 || Bytes > _maxBytes / 2;

    /// <summary>Queues the frame behind its kind; makes room first when the session is crowded.</summary>
    public Queued Add(Frame frame)
    {
        // A mailbox may be far larger than a session's queue: it must neither fill it nor crowd it.
        if (frame.IsReplay && Items > 0 && (Items >= _maxItems / 2 || Bytes + frame.Tail.Length > _maxBytes / 2))
        {
            return Queued.Later;
        }

        Relieve(frame.Event.CollapseKey);
        if (_crowded && !frame.HasSeq)
        {
            return Queued.Dropped;
        }

        // A single frame always fits an empty session, or a large event could never be sent.
        if (Items > 0 && (Items >= _maxItems || Bytes + frame.Tail.Length > _maxBytes))
        {
            return Queued.Full;
        }

        if (frame.Event.Class == EventClass.Call)
        {
            _calls.Enqueue(frame);
        }
        else
        {
            _others.Enqueue(frame);
        }

        return Queued.Waiting;
    }

    /// <summary>The next frame and the seq that it has from now on (0 = transient); null = nothing waits. Skips what has expired.</summary>
    public Frame? Take(DateTimeOffset now, out long seq)
    {
        seq = 0;
        while ((_calls.Dequeue() ?? _others.Dequeue()) is { } frame)
        {
            if (frame.IsExpired(now))
            {
                continue;
            }

            if (frame.HasSeq)
            {
                seq = ++_seq;
                _unacked.Enqueue(frame);
            }
            else
            {
                _transients++;
            }

            return frame;
        }

        return null;
    }

    /// <summary>True when the seq was never given.</summary>
    public readonly bool IsFuture(long seq) => seq > _seq;

    /// <summary>The oldest unacked frame if <paramref name="seq"/> confirms it; null = nothing more to confirm.</summary>
    public Frame? Confirm(long seq) => seq > _seq - _unacked.Count ? _unacked.Dequeue() : null;

    /// <summary>Takes the event's frame out of what waits; false when it did not wait.</summary>
    public bool Remove(Event accepted)
    {
        var waiting = Waiting;
        _calls.RemoveAll(accepted, static (frame, removed) => ReferenceEquals(frame.Event, removed) && !frame.IsWithdrawal);
        _others.RemoveAll(accepted, static (frame, removed) => ReferenceEquals(frame.Event, removed) && !frame.IsWithdrawal);
        return Waiting < waiting;
    }

    /// <summary>Forgets what waits. What is unacked stays: a late ack still counts.</summary>
    public void Clear()
    {
        _calls.Clear();
        _others.Clear();
    }

    // Over half: once for everything that waits, then only for each newcomer's own key, so that a crowded session stays cheap.
    private void Relieve(string? newcomer)
    {
        if (!IsOverHalf)
        {
            _crowded = false;
            return;
        }

        if (!_crowded)
        {
            _crowded = true;
            Conflate();
        }

        if (newcomer is not null && Waiting > 0)
        {
            _calls.RemoveAll(newcomer, IsOlder);
            _others.RemoveAll(newcomer, IsOlder);
        }
    }

    private static bool IsOlder(Frame frame, string key) =>
        !frame.IsWithdrawal && string.Equals(frame.Event.CollapseKey, key, StringComparison.Ordinal);

    /// <summary>Drops transient frames, and of each collapse key all but the newest. Rare: at the crossing of the half only.</summary>
    private void Conflate()
    {
        var newest = new Dictionary<string, Frame>(StringComparer.Ordinal);
        Note(ref _calls, newest);
        Note(ref _others, newest);
        _calls.RemoveAll(newest, IsSuperfluous);
        _others.RemoveAll(newest, IsSuperfluous);
    }

    private static void Note(ref FrameQueue queue, Dictionary<string, Frame> newest)
    {
        for (var i = 0; i < queue.Count; i++)
        {
            if (queue[i] is { IsWithdrawal: false, Event.CollapseKey: { } key } frame
                && (!newest.TryGetValue(key, out var known) || known.Event.AcceptedAt <= frame.Event.AcceptedAt))
            {
                newest[key] = frame;
            }
        }
    }

    private static bool IsSuperfluous(Frame frame, Dictionary<string, Frame> newest) =>
        !frame.HasSeq
        || (frame is { IsWithdrawal: false, Event.CollapseKey: { } key } && !ReferenceEquals(newest[key], frame));
}
