using System.Buffers;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Timing;

namespace Pnh.Channels.Links;

/// <summary>
/// What a hub said over a link and sessions do not have yet, in its order. An event for many sessions is given to some of them at a time, and all but calls waits behind it: so the link's reader is free,
/// and a call that comes next waits for a turn and not for the whole event. One reader adds; one thread of the pool at a time takes.
/// </summary>
/// <param name="turns">After each step the others go first.</param>
/// <param name="give">Gives an event to the sessions with these numbers on the link.</param>
internal sealed class EdgeBacklog(Turns turns, Action<ReadOnlySpan<long>, Event> give)
{
    /// <summary>Sessions that get an event in one step.</summary>
    public const int Step = 32;

    /// <summary>So many steps may wait, some 0.1 s of work. Beyond them, or beyond <see cref="LinkQueue.MostBytes"/>, the link is not read on, and its hub sees an edge that reads slowly.</summary>
    public const int MostSteps = 1024;

    private readonly Lock _gate = new();
    private readonly Queue<Waiting> _waiting = new();
    private Task _working = Task.CompletedTask;
    private bool _isWorking;
    private int _steps;
    private int _bytes;

    /// <summary>True while what comes next is done at once.</summary>
    private bool IsEmpty => !Volatile.Read(ref _isWorking);

    /// <summary>Does this now, or behind what waits.</summary>
    /// <param name="action">What to do.</param>
    /// <param name="bytes">Of memory that it keeps, about.</param>
    public void Do(Action action, int bytes)
    {
        if (IsEmpty)
        {
            action();
        }
        else
        {
            Add(new(action, null, [], 0, bytes));
        }
    }

    /// <summary>Gives the event to these sessions, now or behind what waits.</summary>
    /// <param name="handles">Their numbers on the link.</param>
    /// <param name="accepted">The event.</param>
    /// <param name="bytes">Of memory that it keeps, about.</param>
    public void Give(ReadOnlySpan<long> handles, Event accepted, int bytes)
    {
        if (handles.Length <= Step && IsEmpty)
        {
            give(handles, accepted);
            return;
        }

        var copy = ArrayPool<long>.Shared.Rent(handles.Length);
        handles.CopyTo(copy);
        Add(new(null, accepted, copy, handles.Length, bytes));
    }

    /// <summary>Completes when more may come. Throws what a step threw: that is a bug, and ends the link.</summary>
    public Task UntilRoomAsync()
    {
        lock (_gate)
        {
            return Volatile.Read(ref _steps) <= MostSteps && Volatile.Read(ref _bytes) <= LinkQueue.MostBytes && !_working.IsFaulted ? Task.CompletedTask : _working;
        }
    }

    /// <summary>The reader has ended: completes when all that it added is done. Returns what a step threw; null = nothing.</summary>
    public async Task<Exception?> SettleAsync()
    {
        await _working.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        lock (_gate)
        {
            var fault = _working.Exception?.InnerException;
            _waiting.Clear();
            (_working, _steps, _bytes) = (Task.CompletedTask, 0, 0);
            Volatile.Write(ref _isWorking, false);
            return fault;
        }
    }

    private void Add(in Waiting item)
    {
        lock (_gate)
        {
            _waiting.Enqueue(item);
            Interlocked.Add(ref _steps, item.Steps);
            Interlocked.Add(ref _bytes, item.Bytes);
            if (IsEmpty)
            {
                Volatile.Write(ref _isWorking, true);
                _working = WorkAsync();
            }
        }
    }

    // After a fault it counts as at work, so that nothing overtakes what was not done; the reader hears of it before its next read.
    private async Task WorkAsync()
    {
        await turns.NextAsync();
        while (TryTake(out var item))
        {
            for (var step = 0; step < item.Steps; step++)
            {
                Do(item, step);
                Interlocked.Decrement(ref _steps);
                await turns.NextAsync();
            }

            Interlocked.Add(ref _bytes, -item.Bytes);
            ArrayPool<long>.Shared.Return(item.Handles);
        }
    }

    private void Do(in Waiting item, int step)
    {
        if (item.Event is null)
        {
            item.Action!();
        }
        else
        {
            var from = step * Step;
            give(item.Handles.AsSpan(from, Math.Min(Step, item.Count - from)), item.Event);
        }
    }

    private bool TryTake(out Waiting item)
    {
        lock (_gate)
        {
            var isTaken = _waiting.TryDequeue(out item);
            Volatile.Write(ref _isWorking, isTaken);
            return isTaken;
        }
    }

    private readonly record struct Waiting(Action? Action, Event? Event, long[] Handles, int Count, int Bytes)
    {
        public int Steps => Event is null ? 1 : (Count + Step - 1) / Step;
    }
}
