using System.Diagnostics.CodeAnalysis;
using Pnh.Core.Events;
using Pnh.Core.Progress;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Users;

namespace Pnh.Core.FanOuts;

/// <summary>
/// A durable event on its way to more members of its topic than a page holds: those who have a session at once, the others behind its answer, page by page. Each member has
/// one turn, in which all of his devices are planned; whether it is over is read and changed under the gate of his shard, so that no two threads give it to him. The thread
/// that holds the fan-out keeps its pages from going on. Thread-safe.
/// </summary>
/// <param name="accepted">The event.</param>
/// <param name="progress">Its count.</param>
/// <param name="sessions">Whose turn comes before the pages, and devices that had the event as guests.</param>
/// <param name="after">The last member that is served already; empty = none is.</param>
/// <param name="served">Members after that one who have had their turn; null = nobody has.</param>
/// <param name="skipped">Members who have none; null = all have.</param>
[SuppressMessage("Design", "CA1001", Justification = "A semaphore whose wait handle nobody takes holds nothing to dispose of.")]
internal sealed class FanOut(Event accepted, EventProgress progress, TopicSessions sessions, string after, IEnumerable<string>? served = null, IEnumerable<string>? skipped = null)
{
    /// <summary>How many values <see cref="FanOutPace"/> has.</summary>
    internal const int Paces = 3;

    // 16,000 members as fast as it goes. What a million leave in mailboxes the collector moves, 12 times for 30 ms: in 11 s that was a call's p99, in 45 s it is not.
    private const int QuickPages = 64;

    private readonly SemaphoreSlim _pages = new(1, 1);

    // Inside the gate of a shard, never around one.
    private readonly Lock _turns = new();
    private HashSet<string>? _skipped = skipped?.ToHashSet(StringComparer.Ordinal);
    private HashSet<string>? _left;
    private HashSet<string>? _early = served?.ToHashSet(StringComparer.Ordinal);
    private bool _isPaused;
    private bool _hasNews;
    private volatile string _reached = after;
    private volatile bool _isStopped;

    internal Event Event { get; } = accepted;

    internal EventProgress Progress { get; } = progress;

    /// <summary>What is left of the event after its last page; null = nothing. False = the registry cannot be read now.</summary>
    internal Func<ValueTask<bool>>? Rest { get; init; }

    internal TopicSessions Sessions { get; } = sessions;

    /// <summary>Fan-outs of one line go one after the other, so that each member gets their events in order.</summary>
    internal FanOutLine Line { get; } = FanOutLine.Of(accepted);

    /// <summary>The last member whose page came.</summary>
    internal string Reached => _reached;

    /// <summary>True once the event was taken back: nobody more is served.</summary>
    internal bool IsStopped => _isStopped;

    /// <summary>How many pages were served. From here to <see cref="IsWaitTold"/> the table's, under its lock.</summary>
    internal int Pages { get; set; }

    /// <summary>True while a page is served, or what follows it.</summary>
    internal bool IsBusy { get; set; }

    /// <summary>True when no earlier one of its line is left.</summary>
    internal bool IsHead { get; set; }

    /// <summary>When it came, a timestamp.</summary>
    internal long AddedAt { get; set; }

    /// <summary>True once it was told that it waits for long.</summary>
    internal bool IsWaitTold { get; set; }

    /// <summary>Which places its next page may take.</summary>
    internal FanOutPace Pace => Line.Class == EventClass.Call ? FanOutPace.Call : Pages < QuickPages ? FanOutPace.Quick : FanOutPace.Long;

    /// <summary>No page goes on until <see cref="Release"/>. First come, first served.</summary>
    internal Task HoldAsync(CancellationToken cancellationToken) => _pages.WaitAsync(cancellationToken);

    internal void Release() => _pages.Release();

    /// <summary>A member's turn before the pages; and before it his turn in the events that came earlier, so that each of his devices gets them in order.</summary>
    internal void Begin(Shard shard, UserKey user, UserSnapshot snapshot, IReadOnlyList<FanOut> earlier)
    {
        using (shard.Enter())
        {
            foreach (var one in earlier)
            {
                one.BeginEarly(shard, user, snapshot);
            }

            Plan(shard, user, snapshot);
        }
    }

    /// <summary>The member cannot be read now: his turn comes with his page.</summary>
    internal void Leave(string user)
    {
        lock (_turns)
        {
            (_left ??= new HashSet<string>(StringComparer.Ordinal)).Add(user);
        }
    }

    /// <summary>The turn of a member on a page; a null snapshot = he could not be read until the event was over. False = he had it, or has none; then nothing happened.</summary>
    internal bool Serve(Shard shard, UserKey user, UserSnapshot? snapshot)
    {
        using (shard.Enter())
        {
            lock (_turns)
            {
                var isDue = IsDue(user.User);
                if (isDue && snapshot is not null)
                {
                    Plan(shard, user, snapshot);
                }

                _hasNews |= isDue;
                _reached = user.User;
                return isDue;
            }
        }
    }

    /// <summary>The pages came to here, and nobody up to him was left over.</summary>
    internal void Pass(string user) => _reached = user;

    /// <summary>True when nobody of the last page was due. For the thread that serves the pages.</summary>
    internal bool IsAhead { get; set; }

    /// <summary>Completes when the journal has what was noted of the page before the last one. For the thread that serves the pages.</summary>
    internal Task Flushed { get; set; } = Task.CompletedTask;

    /// <summary>True when a page planned something since it was asked: worth a note of <see cref="Reached"/>. For the thread that serves the pages.</summary>
    internal bool TakeNews()
    {
        var hadNews = _hasNews;
        _hasNews = false;
        return hadNews;
    }

    /// <summary>True when the user's turn is over: what begins for a member has begun.</summary>
    internal bool HasBegun(string user)
    {
        lock (_turns)
        {
            return (Sessions.HasMember(user) && _left?.Contains(user) != true)
                || (_reached is { Length: > 0 } reached && !TopicMembers.IsAfter(user, reached))
                || _early?.Contains(user) == true;
        }
    }

    /// <summary>How many members had their turn because they have a session.</summary>
    internal int Begun
    {
        get
        {
            lock (_turns)
            {
                return Sessions.Members.Length - (_left?.Count ?? 0);
            }
        }
    }

    /// <summary>True for a member who would have had a turn with his page.</summary>
    internal bool IsLeft(string user)
    {
        lock (_turns)
        {
            return IsDue(user);
        }
    }

    /// <summary>The user took it back for himself: he has no turn any more, if it is not over.</summary>
    internal void Skip(string user)
    {
        lock (_turns)
        {
            (_skipped ??= new HashSet<string>(StringComparer.Ordinal)).Add(user);
        }
    }

    /// <summary>Nobody has a turn before his page, until it is over; for the thread that holds the pages.</summary>
    internal void Pause(bool isOn)
    {
        lock (_turns)
        {
            _isPaused = isOn;
        }
    }

    /// <summary>Nobody has a turn any more.</summary>
    internal void Stop()
    {
        lock (_turns)
        {
            _isStopped = true;
        }
    }

    private void BeginEarly(Shard shard, UserKey user, UserSnapshot snapshot)
    {
        lock (_turns)
        {
            if (!_isPaused && !_isStopped && IsDue(user.User))
            {
                (_early ??= new HashSet<string>(StringComparer.Ordinal)).Add(user.User);
                Plan(shard, user, snapshot);
            }
        }
    }

    // Under the lock, which may be taken twice.
    private bool IsDue(string user) => !HasBegun(user) && _skipped?.Contains(user) != true;

    private void Plan(Shard shard, UserKey user, UserSnapshot snapshot) => shard.Dispatch(Progress, Event, user, snapshot, Sessions);
}

/// <summary>How a fan-out goes on.</summary>
internal enum FanOutPace
{
    /// <summary>Of a call: as fast as it goes.</summary>
    Call,

    /// <summary>Its first pages: the same, beside calls.</summary>
    Quick,

    /// <summary>Of a long one: each page is followed by a rest.</summary>
    Long,
}

/// <summary>What keeps its order: a topic's events of one class.</summary>
internal readonly record struct FanOutLine(TopicKey Topic, EventClass Class)
{
    internal static FanOutLine Of(Event accepted) => new(new TopicKey(accepted.App, accepted.To.Topic!), accepted.Class);
}
