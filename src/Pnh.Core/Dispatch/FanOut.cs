using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Events;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>
/// A durable event on its way to more members of its topic than a page holds: behind its answer, page by page. Whoever holds it keeps it from serving
/// anybody meanwhile. <see cref="Reached"/> and <see cref="IsStopped"/> are read on any thread; the rest belongs to who holds it.
/// </summary>
/// <param name="accepted">The event.</param>
/// <param name="progress">Its count.</param>
/// <param name="past">What a former run began; null = a new event.</param>
/// <param name="after">The last member that is served already; empty = none is.</param>
[SuppressMessage("Design", "CA1001", Justification = "A semaphore whose wait handle nobody takes holds nothing to dispose of.")]
internal sealed class FanOut(Event accepted, EventProgress progress, PastDispatch? past, string after)
{
    private readonly SemaphoreSlim _gate = new(1, 1);
    private HashSet<string>? _skipped;
    private volatile string _reached = after;
    private volatile bool _isStopped;

    internal Event Event { get; } = accepted;

    internal EventProgress Progress { get; } = progress;

    internal PastDispatch? Past { get; } = past;

    /// <summary>Fan-outs of one line go one after the other, so that each member gets their events in order.</summary>
    internal FanOutLine Line { get; } = FanOutLine.Of(accepted);

    /// <summary>The last member that was served.</summary>
    internal string Reached
    {
        get => _reached;
        set => _reached = value;
    }

    /// <summary>True once the event was taken back: nobody more is served.</summary>
    internal bool IsStopped
    {
        get => _isStopped;
        set => _isStopped = value;
    }

    /// <summary>The table's.</summary>
    internal bool IsRunning { get; set; }

    /// <summary>First come, first served; then <see cref="Release"/> must follow.</summary>
    internal Task HoldAsync(CancellationToken cancellationToken) => _gate.WaitAsync(cancellationToken);

    internal void Release() => _gate.Release();

    /// <summary>The user took it back for himself and is not served any more.</summary>
    internal void Skip(string user) => (_skipped ??= new HashSet<string>(StringComparer.Ordinal)).Add(user);

    internal bool Skips(string user) => _skipped?.Contains(user) == true;

    /// <summary>True when the user's turn is over: whatever begins for a member has begun.</summary>
    internal bool HasPassed(string user) => Reached is { Length: > 0 } reached && !TopicMembers.IsAfter(user, reached);
}

/// <summary>What keeps its order: a topic's events of one class.</summary>
internal readonly record struct FanOutLine(TopicKey Topic, EventClass Class)
{
    internal static FanOutLine Of(Event accepted) => new(new TopicKey(accepted.App, accepted.To.Topic!), accepted.Class);
}
