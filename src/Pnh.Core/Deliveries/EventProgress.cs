using Pnh.Core.Events;

namespace Pnh.Core.Deliveries;

/// <summary>
/// Counts what is open of an event over all shards: its dispatch, its deliveries and its places in mailboxes. The one that brings it to zero
/// finishes the event. Does not hold the event, so that a mailbox can keep it without its body. Thread-safe.
/// </summary>
internal sealed class EventProgress
{
    // Dropped with the dispatch: a mailbox holds this object for hours after it.
    private TaskCompletionSource? _dispatched = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // One for the dispatch itself, so that an event is not finished while it is still being expanded.
    private int _open = 1;
    private int _planned;

    internal EventProgress(Event accepted)
    {
        App = accepted.App;
        Id = accepted.Id;
        Class = accepted.Class;
        IsDurable = accepted.IsDurable;
    }

    internal string App { get; }

    internal string Id { get; }

    internal EventClass Class { get; }

    internal bool IsDurable { get; }

    /// <summary>False when no device at all was planned.</summary>
    internal bool HasPlans => Volatile.Read(ref _planned) > 0;

    /// <summary>Completes when every delivery has begun, or when that was given up.</summary>
    internal Task Dispatched => Volatile.Read(ref _dispatched)?.Task ?? Task.CompletedTask;

    internal void Planned(int devices) => Interlocked.Add(ref _planned, devices);

    internal void DispatchEnded() => Interlocked.Exchange(ref _dispatched, null)?.TrySetResult();

    internal void Add() => Interlocked.Increment(ref _open);

    /// <summary>True for the caller that closed the last one.</summary>
    internal bool Close() => Interlocked.Decrement(ref _open) == 0;
}
