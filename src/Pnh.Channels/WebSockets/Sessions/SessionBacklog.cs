using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>What became of a frame that was to be queued.</summary>
internal enum Queued
{
    /// <summary>It waits to be written.</summary>
    Waiting,

    /// <summary>A transient frame for a crowded session: dropped, the session goes on.</summary>
    Dropped,

    /// <summary>No room, or a replayed frame beyond half of it: it waits at the hub for acks, or for <see cref="ISessionEvents.HasRoom"/>.</summary>
    Later,

    /// <summary>No room even for what clears the screen: the client is too slow.</summary>
    Full,
}

/// <summary>
/// A session's frames in the order of their life: waiting (calls before the rest), then written and unacked. One bound holds for all of them
/// together. <c>seq</c> counts written frames, so the unacked ones are always the last <c>n</c> numbers. Not thread-safe: the session's lock
/// guards it.
/// </summary>
internal partial struct SessionBacklog
{
    private readonly int _maxItems;
    private readonly int _maxBytes;
    private FrameQueue _calls;
    private FrameQueue _others;
    private FrameQueue _unacked;
    private int _repeats;
    private bool _crowded;
    private bool _isReplayRefused;
    private long _seq;
    private long _transients;
    private int _owedAcks;

    public SessionBacklog(int maxItems, int maxBytes, long seq = 0)
    {
        _seq = seq;
        _maxItems = maxItems;
        _maxBytes = maxBytes;
    }

    /// <summary>Frames not written, or to be written again.</summary>
    public readonly int Waiting => _calls.Count + _others.Count + _repeats;

    /// <summary>Frames written and not acked.</summary>
    public readonly int Unacked => _unacked.Count;

    /// <summary>Frames written, ever.</summary>
    public readonly long Sent => _seq + _transients;

    /// <summary>Everything up to this seq is confirmed, or needs no confirming.</summary>
    public readonly long Confirmed => _seq - _unacked.Count;

    /// <summary>The seq of the next frame that gets one.</summary>
    public readonly long NextSeq => _seq + 1;

    private readonly int Items => _calls.Count + _others.Count + _unacked.Count;

    /// <summary>Shared bytes of all its frames.</summary>
    public readonly int Bytes => _calls.Bytes + _others.Bytes + _unacked.Bytes;

    private readonly bool IsOverHalf => Items > _maxItems / 2 || Bytes > _maxBytes / 2;

    /// <summary>Queues the frame behind its kind; makes room first when the session is crowded.</summary>
    public Queued Add(Frame frame)
    {
        // A mailbox may be far larger than a session's queue: it must neither fill it nor crowd it.
        if (frame.IsReplay && Items > 0 && (Items >= _maxItems / 2 || Bytes + frame.Tail.Length > _maxBytes / 2))
        {
            _isReplayRefused = true;
            return Queued.Later;
        }

        Relieve(frame.Event);
        if (_crowded && !frame.HasSeq)
        {
            return Queued.Dropped;
        }

        if (frame.Event is null)
        {
            return AddNews(frame);
        }

        // A single frame always fits an empty session, or a large event could never be sent.
        if (Items > 0 && (Items >= _maxItems || Bytes + frame.Tail.Length > _maxBytes))
        {
            _isReplayRefused = true;
            return Queued.Later;
        }

        (frame.Event.Class == EventClass.Call ? ref _calls : ref _others).Enqueue(frame);
        return Queued.Waiting;
    }

    // What clears the screen has the same room once more, as nobody keeps it for later. It may end a ringing, so it goes with the calls; it overtakes no frame of its event, which left or is taken out.
    private Queued AddNews(Frame frame)
    {
        if (Items >= 2 * _maxItems)
        {
            return Queued.Full;
        }

        _calls.Enqueue(frame);
        return Queued.Waiting;
    }

    /// <summary>True when the frame would be the only one that waits, and nothing would be dropped for it: it need not be queued.</summary>
    public readonly bool MayPass(Frame frame) =>
        Waiting == 0 && !_crowded && Items < _maxItems / 2 && Bytes + frame.Tail.Length <= _maxBytes / 2;

    /// <summary>The next frame to write; false = nothing waits. What must be repeated comes first, with its old seq. Skips what has expired, so many frames.</summary>
    public bool Take(DateTimeOffset now, out Outgoing next, out int over)
    {
        over = 0;
        if (_repeats > 0 && Repeat(now, out next))
        {
            return true;
        }

        while ((_calls.Dequeue() ?? _others.Dequeue()) is { } frame)
        {
            if (frame.IsExpired(now))
            {
                over++;
                continue;
            }

            next = new Outgoing(frame, frame.HasSeq ? NextSeq : 0, IsRepeat: false);
            Written(frame);
            return true;
        }

        next = default;
        return false;
    }

    /// <summary>True once, when a replay was refused, all that was in its way is gone, and no ack to come will say so.</summary>
    public bool TakeRoom()
    {
        var hasRoom = _isReplayRefused && Items == 0;
        _isReplayRefused &= !hasRoom;
        return hasRoom;
    }

    private void OweAck() => _owedAcks = Math.Min(_owedAcks + 1, 4 * _maxItems);

    /// <summary>The frame was written, for the first time.</summary>
    public void Written(Frame frame)
    {
        if (frame.HasSeq)
        {
            _seq++;
            _unacked.Enqueue(frame);
            OweAck();
        }
        else
        {
            _transients++;
        }
    }

    /// <summary>
    /// True when fewer acks came than frames were written, repeats included: after a storm of resumes the acks of what was repeated confirm
    /// nothing, and are honest all the same. Bounded by four full sessions, or a client that acks rarely could save up a flood.
    /// </summary>
    public bool TryUseAck() => _owedAcks > 0 && _owedAcks-- > 0;

    /// <summary>True when the seq was never given.</summary>
    public readonly bool IsFuture(long seq) => seq > _seq;

    /// <summary>The oldest unacked frame if <paramref name="seq"/> confirms it; null = nothing more to confirm.</summary>
    public Frame? Confirm(long seq)
    {
        var confirmed = seq > Confirmed ? _unacked.Dequeue() : null;
        Trim();
        return confirmed;
    }

    /// <summary>The ids of all events in it that are to be acknowledged, and this one; null = none besides.</summary>
    public readonly IReadOnlyList<string> Held(string? besides)
    {
        List<string> ids = besides is null ? [] : [besides];
        _unacked.CopyEvents(ids);
        _calls.CopyEvents(ids);
        _others.CopyEvents(ids);
        return ids;
    }

    /// <summary>Forgets what waits. What is unacked stays: a late ack still counts.</summary>
    public void Clear()
    {
        _calls.Clear();
        _others.Clear();
    }
}
