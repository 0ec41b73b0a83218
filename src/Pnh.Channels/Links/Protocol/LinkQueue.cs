using Pnh.Core.Events;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Items on their way to the other end of a link, in batches of some 64 kB: calls before the rest, and in each of the two in the order in which they were ended. Any thread adds; one writer takes.
/// The end of the queue never throws at a thread that adds: what it adds afterwards goes nowhere, like what was on its way when a connection broke.
/// </summary>
internal sealed class LinkQueue
{
    /// <summary>A batch that has as many bytes gets no further item.</summary>
    public const int BatchBytes = 64 * 1024;

    /// <summary>Bytes that may wait. Only events are refused beyond: everything else is short, and the order of the other end hangs on it.</summary>
    public const int MostBytes = 4 * 1024 * 1024;

    private const int SpareBatches = 4;
    private readonly Lock _gate = new();
    private readonly LinkLane _calls = new();
    private readonly LinkLane _rest = new();
    private readonly Stack<LinkWriter> _spare = new();
    private readonly LinkWriter _nowhere = new();
    private readonly LinkSignal _news = new();
    private LinkWriter? _taken;
    private long _bytes;
    private long _dropped;
    private bool _isAskedForRoom;
    private bool _isComplete;
    private bool _isWaiting; // the writer, for the next item
    private bool _isLent; // the writer's thread is the one that flushed

    /// <summary>The version of the protocol that both ends speak; 0 = they have not greeted yet, or the other end is a tee.</summary>
    public int Version { get; set; }

    /// <summary>Bytes that wait or are being written.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Transient events that were dropped because too much waited, a session each.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>Called after <see cref="AskForRoom"/>, once half of what may wait has left; by any thread. Must return at once.</summary>
    public Action HasRoom { get; set; } = static () => { };

    /// <summary>Begins an item; nobody else can until it is disposed, which ends it.</summary>
    public LinkItem Begin(LinkItemKind kind)
    {
        var scope = _gate.EnterScope();

        // A hello is the first item of its end, also when a call comes before it was taken.
        var lane = kind == LinkItemKind.Hello ? _calls : _rest;
        lane.Event = null;
        return new LinkItem(this, Filling(lane).Begin(kind), scope);
    }

    /// <summary>
    /// Adds an event for a session. The same event for the next one takes its handle alone: body and all go over the link once. False when as much waits as may; then nothing was added.
    /// </summary>
    /// <param name="handle">The session's.</param>
    /// <param name="accepted">The event.</param>
    /// <param name="time">This node's clock.</param>
    public bool TryAdd(long handle, Event accepted, TimeProvider time)
    {
        lock (_gate)
        {
            var isAdded = Add([handle], accepted, time);
            Wake();
            return isAdded;
        }
    }

    /// <summary>The same for several sessions: all of them or none. Unless a batch is full it stays until <see cref="Flush"/>, as there may be more of the event.</summary>
    public bool TryAdd(ReadOnlySpan<long> handles, Event accepted, TimeProvider time)
    {
        lock (_gate)
        {
            return Add(handles, accepted, time);
        }
    }

    /// <summary>
    /// What was added leaves now. A writer that waits sends the first batch in the caller's thread when <paramref name="byCaller"/>, and wakes no other: for the two links of an edge those
    /// wake-ups were most of what a hub did for a broadcast.
    /// </summary>
    public void Flush(bool byCaller)
    {
        lock (_gate)
        {
            if (!byCaller || !_isWaiting)
            {
                Wake();
                return;
            }

            _isWaiting = false;
            _isLent = true;
        }

        _news.Set(byCaller: true);
    }

    /// <summary>Something was refused because too much waits: <see cref="HasRoom"/> is called when it may come, at once if that is now.</summary>
    public void AskForRoom()
    {
        lock (_gate)
        {
            _isAskedForRoom = _bytes > MostBytes / 2;
            if (_isAskedForRoom)
            {
                return;
            }
        }

        HasRoom();
    }

    /// <summary>The next batch, once there is one; empty = the queue has ended. It is the caller's until the next call.</summary>
    public async ValueTask<ReadOnlyMemory<byte>> TakeAsync()
    {
        if (GiveBack())
        {
            HasRoom();
        }

        if (_isLent)
        {
            // The caller of the flush sent one batch, and goes on with its own work.
            _isLent = false;
            if (Bytes > 0)
            {
                await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            }
        }

        while (true)
        {
            lock (_gate)
            {
                if (_calls.TryTake(out _taken) || _rest.TryTake(out _taken))
                {
                    return _taken.Written;
                }

                if (_isComplete)
                {
                    return default;
                }

                _news.Reset();
                _isWaiting = true;
            }

            await _news.WaitAsync().ConfigureAwait(false);
        }
    }

    /// <summary>What is in it leaves yet, and nothing else.</summary>
    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
            Wake();
        }
    }

    /// <summary>Nothing leaves any more.</summary>
    public void End()
    {
        lock (_gate)
        {
            Complete();
            _calls.Clear();
            _rest.Clear();
        }
    }

    // Under the gate, which the item has.
    internal void Finish(LinkWriter batch)
    {
        Close(batch);
        Wake();
    }

    // Under the gate.
    private bool Add(ReadOnlySpan<long> handles, Event accepted, TimeProvider time)
    {
        if (_isComplete)
        {
            return true;
        }

        if (_bytes >= MostBytes)
        {
            Volatile.Write(ref _dropped, _dropped + (accepted.IsDurable ? 0 : handles.Length));
            return false;
        }

        var lane = accepted.Class == EventClass.Call ? _calls : _rest;
        var batch = Filling(lane);
        if (!ReferenceEquals(lane.Event, accepted) || !batch.TryReopen())
        {
            lane.Event = accepted;
            batch.Begin(Version >= LinkHello.CarriesFrames ? LinkItemKind.Frame : LinkItemKind.Send).Event(accepted, time, Version);
        }

        Close(batch.Numbers(handles));
        if (batch.Written.Length >= BatchBytes)
        {
            Wake();
        }

        return true;
    }

    private void Close(LinkWriter batch)
    {
        var bytes = batch.End();
        if (_isComplete)
        {
            batch.Clear();
            return;
        }

        Volatile.Write(ref _bytes, _bytes + bytes);
    }

    private void Wake()
    {
        if (_isWaiting)
        {
            _isWaiting = false;
            _news.Set(byCaller: false);
        }
    }

    private LinkWriter Filling(LinkLane lane)
    {
        if (_isComplete)
        {
            return _nowhere;
        }

        if (lane.Filling is null || lane.Filling.Written.Length >= BatchBytes)
        {
            lane.Add(_spare.TryPop(out var spare) ? spare : new LinkWriter());
        }

        return lane.Filling!;
    }

    // True when what was refused for want of room may come now.
    private bool GiveBack()
    {
        lock (_gate)
        {
            if (_taken is not { } written)
            {
                return false;
            }

            Volatile.Write(ref _bytes, _bytes - written.Written.Length);
            written.Clear();
            _taken = null;
            if (_spare.Count < SpareBatches)
            {
                _spare.Push(written);
            }

            var hasRoom = _isAskedForRoom && _bytes <= MostBytes / 2;
            _isAskedForRoom &= !hasRoom;
            return hasRoom;
        }
    }
}
