using Pnh.Core.Events;

namespace Pnh.Core.Deliveries;

/// <summary>Counts an event's open deliveries over all shards; the one that brings it to zero finishes the event. Thread-safe.</summary>
internal sealed class EventProgress
{
    // One for the dispatch itself, so that an event is not finished while it is still being expanded.
    private int _open = 1;

    internal EventProgress(Event accepted) => Event = accepted;

    internal Event Event { get; }

    internal void Add() => Interlocked.Increment(ref _open);

    /// <summary>True for the caller that closed the last one.</summary>
    internal bool Close() => Interlocked.Decrement(ref _open) == 0;
}
