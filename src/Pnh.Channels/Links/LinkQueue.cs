using System.Threading.Channels;

namespace Pnh.Channels.Links;

/// <summary>
/// Items on their way to the other end of a link, in the order in which they were ended, in batches of some 64 kB. Any thread adds; one writer takes. An end of the queue never throws at who adds:
/// what is added afterwards goes nowhere, as what was on its way when a connection broke.
/// </summary>
internal sealed class LinkQueue
{
    /// <summary>A batch that has as many bytes gets no further item.</summary>
    public const int BatchBytes = 64 * 1024;

    /// <summary>Bytes that may wait. Only events are refused beyond: everything else is short, and the order of the other end hangs on it.</summary>
    public const int MostBytes = 4 * 1024 * 1024;

    private const int SpareBatches = 4;
    private readonly Lock _gate = new();
    private readonly Queue<LinkWriter> _batches = new();
    private readonly Stack<LinkWriter> _spare = new();
    private readonly Channel<bool> _news = Channel.CreateBounded<bool>(new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });
    private readonly LinkWriter _nowhere = new();
    private LinkWriter? _filling;
    private LinkWriter? _taken;
    private long _bytes;
    private bool _isComplete;

    /// <summary>False while as much waits as may: an event is refused then.</summary>
    public bool HasRoom => Volatile.Read(ref _bytes) < MostBytes;

    /// <summary>Bytes that wait or are being written.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Begins an item; nobody else can until it is disposed, which ends it.</summary>
    public LinkItem Begin(LinkItemKind kind)
    {
        var scope = _gate.EnterScope();
        if (!_isComplete && (_filling is null || _filling.Written.Length >= BatchBytes))
        {
            _filling = _spare.TryPop(out var spare) ? spare : new LinkWriter();
            _batches.Enqueue(_filling);
        }

        return new LinkItem(this, _filling!.Begin(kind), scope);
    }

    /// <summary>The next batch, once there is one; empty = the queue has ended. It is the caller's until the next call.</summary>
    public async ValueTask<ReadOnlyMemory<byte>> TakeAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            lock (_gate)
            {
                GiveBack();
                if (_batches.TryDequeue(out _taken))
                {
                    _filling = ReferenceEquals(_filling, _taken) ? null : _filling;
                    return _taken.Written;
                }

                if (_isComplete)
                {
                    return default;
                }
            }

            await _news.Reader.ReadAsync(cancellationToken);
        }
    }

    /// <summary>What is in it leaves yet, and nothing else.</summary>
    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
            _filling = _nowhere;
            _news.Writer.TryWrite(true);
        }
    }

    /// <summary>Nothing leaves any more.</summary>
    public void End()
    {
        lock (_gate)
        {
            Complete();
            _batches.Clear();
        }
    }

    // Under the gate, which the item has.
    internal void Finish(LinkWriter batch)
    {
        var bytes = batch.End();
        if (ReferenceEquals(batch, _nowhere))
        {
            batch.Clear();
            return;
        }

        Volatile.Write(ref _bytes, _bytes + bytes);
        _news.Writer.TryWrite(true);
    }

    private void GiveBack()
    {
        if (_taken is not { } written)
        {
            return;
        }

        Volatile.Write(ref _bytes, _bytes - written.Written.Length);
        written.Clear();
        _taken = null;
        if (_spare.Count < SpareBatches)
        {
            _spare.Push(written);
        }
    }
}

/// <summary>An item that is being written into a queue.</summary>
internal ref struct LinkItem
{
    private readonly LinkQueue _queue;
    private Lock.Scope _scope;

    internal LinkItem(LinkQueue queue, LinkWriter members, Lock.Scope scope)
    {
        _queue = queue;
        Members = members;
        _scope = scope;
    }

    /// <summary>Takes the item's members.</summary>
    public LinkWriter Members { get; }

    /// <summary>Ends the item.</summary>
    public void Dispose()
    {
        try
        {
            _queue.Finish(Members);
        }
        finally
        {
            _scope.Dispose();
        }
    }
}
