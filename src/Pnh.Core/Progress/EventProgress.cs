using Pnh.Core.Diagnostics;
using Pnh.Core.Events;

namespace Pnh.Core.Progress;

/// <summary>
/// What all deliveries of a durable event share, and the count of what is open of it over all shards: its dispatch, its deliveries, its places in
/// mailboxes and what clears it from screens. The one that brings it to zero finishes the event. Does not hold the event, so that a mailbox can keep it
/// without its body. Thread-safe.
/// </summary>
internal sealed class EventProgress(Event accepted, AppBooks books)
{
    private static readonly TaskCompletionSource Ended = NewEnded();

    // A bit of the count of plans: as a field of its own it would cost every event 8 bytes.
    private const int UnreadBit = int.MinValue;
    private const int RestsBit = 1 << 30;
    private const int RestNotedBit = 1 << 29;
    private const int RestoredBit = 1 << 28;
    private const int Bits = UnreadBit | RestsBit | RestNotedBit | RestoredBit;

    // Ticks: a DateTimeOffset is 16 bytes, and hundreds of thousands of these wait for hours.
    private readonly long _acceptedAt = accepted.AcceptedAt.UtcTicks;
    private readonly long _expiresAt = accepted.ExpiresAt.UtcTicks;

    // Made only when somebody waits for the dispatch, and dropped with it: a mailbox holds this object for hours.
    private TaskCompletionSource? _dispatched;

    // One for the dispatch itself, so that an event is not finished while it is still being expanded.
    private int _open = 1;
    private int _planned;

    internal string App { get; } = accepted.App;

    internal string Id { get; } = accepted.Id;

    internal EventClass Class { get; } = accepted.Class;

    internal DateTimeOffset AcceptedAt => new(_acceptedAt, TimeSpan.Zero);

    internal DateTimeOffset ExpiresAt => new(_expiresAt, TimeSpan.Zero);

    internal string? CollapseKey { get; } = accepted.CollapseKey;

    /// <summary>The app's ledger.</summary>
    internal AppBooks Books { get; } = books;

    /// <summary>False when no device at all was planned.</summary>
    internal bool HasPlans => (Volatile.Read(ref _planned) & ~Bits) > 0;

    /// <summary>True when users of it, or members of its topic, could not be read until its end: nobody knows whether they had devices.</summary>
    internal bool IsUnread => (Volatile.Read(ref _planned) & UnreadBit) != 0;

    /// <summary>Completes when every delivery has begun, or when that was given up.</summary>
    internal Task Dispatched
    {
        get
        {
            var known = Volatile.Read(ref _dispatched);
            if (known is null)
            {
                var made = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
                known = Interlocked.CompareExchange(ref _dispatched, made, null) ?? made;
            }

            return known.Task;
        }
    }

    /// <summary>The next one in its bucket of events under way, and which bucket that is: the table's.</summary>
    internal ref EventProgress? NextDispatching => ref _nextDispatching;

    internal int DispatchBucket { get; set; }

    /// <summary>True when every delivery has begun and there is none, for sure.</summary>
    internal bool IsKnownEmpty => ReferenceEquals(Volatile.Read(ref _dispatched), Ended) && Volatile.Read(ref _planned) == 0;

    internal void Planned(int devices) => Interlocked.Add(ref _planned, devices);

    internal void Unread() => Interlocked.Or(ref _planned, UnreadBit);

    /// <summary>True when a delivery of it rests: it is not finished when nothing more of it is open here.</summary>
    internal bool Rests => (Volatile.Read(ref _planned) & RestsBit) != 0;

    /// <summary>True when the previous process began it: what was to be sent at once or never is not sent any more.</summary>
    internal bool IsRestored => (Volatile.Read(ref _planned) & RestoredBit) != 0;

    /// <summary>The previous process began it.</summary>
    internal void Restored() => Interlocked.Or(ref _planned, RestoredBit);

    /// <summary>True when every delivery has begun, and it has this one alone.</summary>
    internal bool IsAlone => ReferenceEquals(Volatile.Read(ref _dispatched), Ended) && (Volatile.Read(ref _planned) & ~(UnreadBit | RestNotedBit | RestoredBit)) == 1;

    /// <summary>True when the journal knows already that nothing of it is under way.</summary>
    internal bool IsRestNoted => (Volatile.Read(ref _planned) & RestNotedBit) != 0;

    /// <summary>A delivery of it has left memory, and waits for its device in the journal.</summary>
    internal void Rest() => Interlocked.Or(ref _planned, RestsBit);

    /// <summary>It was read from a mailbox that rests; true = other deliveries of it may rest too.</summary>
    internal void ComesFromRest(bool othersMay) => Interlocked.Or(ref _planned, RestNotedBit | (othersMay ? RestsBit : 0));

    internal void DispatchEnded() => Interlocked.Exchange(ref _dispatched, Ended)?.TrySetResult();

    internal void Add() => Interlocked.Increment(ref _open);

    /// <summary>True for the caller that closed the last one.</summary>
    internal bool Close() => Interlocked.Decrement(ref _open) == 0;

    private EventProgress? _nextDispatching;

    private static TaskCompletionSource NewEnded()
    {
        var ended = new TaskCompletionSource();
        ended.SetResult();
        return ended;
    }
}
