using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;

namespace Pnh.Core.Tests.Shards;

/// <summary>
/// A journal in memory that checks what it is told: nothing settled twice, nothing finished twice or before its deliveries. <see cref="Restart"/>
/// gives what a hub would find after a crash.
/// </summary>
internal sealed class FakeJournal : IEventJournal
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Event> _events = [];
    private readonly List<Milestone> _milestones = [];
    private bool _hasRested;
    private readonly List<AddressNote> _addresses = [];
    private readonly List<string> _finished = [];
    private readonly HashSet<(string Event, string User, string Device)> _ended = [];
    private readonly HashSet<(string Event, string User, string Device)> _over = [];

    /// <summary>Thrown by every append while set.</summary>
    public Exception? Fault { get; set; }

    /// <summary>Thrown by every read while set.</summary>
    public Exception? ReadFault { get; set; }

    /// <summary>Events whose records are damaged.</summary>
    public HashSet<string> Damaged { get; } = [];

    /// <summary>Appends wait for it.</summary>
    public Task Sync { get; set; } = Task.CompletedTask;

    /// <summary>Reads of bodies wait for it.</summary>
    public Task Reading { get; set; } = Task.CompletedTask;

    /// <summary>Called by a withdrawal between what it reads and what it answers.</summary>
    public Action? Withdrawing { get; set; }

    /// <summary>Withdrawals wait for it.</summary>
    public Task WithdrawalSync { get; set; } = Task.CompletedTask;

    public List<UnfinishedEvent> Unfinished { get; } = [];

    public IReadOnlyList<Milestone> Milestones => Copy(_milestones);

    public IReadOnlyList<Milestone> Settled => [.. Milestones.Where(static m => m.Kind == MilestoneKind.Settled)];

    public IReadOnlyList<AddressNote> Addresses => Copy(_addresses);

    public IReadOnlyList<string> Finished => Copy(_finished);

    /// <summary>How the delivery ended: <c>state</c> or <c>state:reason</c>; null = not yet.</summary>
    public string? EndOf(string eventId, string device, string? user = null)
    {
        foreach (var end in Settled)
        {
            if (end.Event == eventId && end.Device == device && (user is null || end.User == user))
            {
                return end.Reason is null ? end.State : $"{end.State}:{end.Reason}";
            }
        }

        return null;
    }

    /// <summary>The kinds of a delivery's milestones, in order.</summary>
    public IReadOnlyList<MilestoneKind> KindsOf(string eventId, string device) =>
        [.. Milestones.Where(m => m.Event == eventId && m.Device == device).Select(static m => m.Kind)];

    public async ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        await Sync;
        lock (_gate)
        {
            if (Fault is not null)
            {
                throw Fault;
            }

            if (_events.TryGetValue(accepted.Id, out var known))
            {
                return known.Body.Span.SequenceEqual(accepted.Body.Span) ? AppendResult.Duplicate : AppendResult.Conflict;
            }

            _events.Add(accepted.Id, accepted);
            return AppendResult.Appended;
        }
    }

    public void Note(in Milestone milestone)
    {
        lock (_gate)
        {
            if (milestone.Kind == MilestoneKind.Settled)
            {
                Assert.True(
                    _ended.Add((milestone.Event, milestone.User!, milestone.Device!)), $"{milestone.Event} ended twice on {milestone.Device}");
                Assert.DoesNotContain(milestone.Event, _finished);
            }

            _milestones.Add(milestone);
            _hasRested |= milestone.Kind == MilestoneKind.Rested;
        }
    }

    /// <summary>Flushes wait for it; a fault of it is theirs.</summary>
    public Func<Task> Flushing { get; set; } = static () => Task.CompletedTask;

    public async ValueTask FlushAsync(CancellationToken cancellationToken) => await Flushing().WaitAsync(cancellationToken);

    public void NoteAddress(in AddressNote note)
    {
        lock (_gate)
        {
            _addresses.Add(note);
        }
    }

    public void Finish(string app, string id)
    {
        lock (_gate)
        {
            Assert.DoesNotContain(id, _finished);
            _finished.Add(id);
        }
    }

    public async ValueTask<WithdrawResult> WithdrawAsync(
        string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken)
    {
        await WithdrawalSync;
        lock (_gate)
        {
            if (!_events.TryGetValue(id, out var accepted))
            {
                return new WithdrawResult(WithdrawStatus.Unknown);
            }

            if (_milestones.Any(m => m.Event == id && m.Kind == MilestoneKind.Withdrawn && (m.User is null || m.User == user)))
            {
                return new WithdrawResult(WithdrawStatus.Already);
            }

            var history = HistoryOf(accepted);
            _milestones.Add(new Milestone(app, id, accepted.Class, MilestoneKind.Withdrawn, at) { User = user, Reason = reason });
            Withdrawing?.Invoke();
            return new WithdrawResult(WithdrawStatus.Withdrawn, history);
        }
    }

    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            return ReadFault is not null ? throw ReadFault
                : ValueTask.FromResult(_events.TryGetValue(id, out var accepted) ? HistoryOf(accepted) : null);
        }
    }

    public async ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken)
    {
        await Reading;
        if (Damaged.Contains(id))
        {
            throw new StoreUnavailableException("The journal is damaged.") { IsDamage = true };
        }

        return (await ReadAsync(app, id, cancellationToken))?.Event;
    }

    /// <summary>As if its body could not be read any more.</summary>
    public void Lose(string id)
    {
        lock (_gate)
        {
            _events.Remove(id);
        }
    }

    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        throw new NotSupportedException();

    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <summary>Reads of mail wait for it.</summary>
    public Task ReadingMail { get; set; } = Task.CompletedTask;

    /// <summary>How many deliveries of an event are over at once.</summary>
    public int MostOver { get; set; } = int.MaxValue;

    /// <summary>Notes that something rests are lost.</summary>
    public bool LosesRested { get; set; }

    public bool Rests(string app, string id, string user, string device) => !LosesRested && Mail(app, user, device).Any(one => one.Event.Id == id);

    public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail { get; private set; } = new Dictionary<(string App, EventClass Class), int>();

    public int CountMail(string app, string user, string device) => Mail(app, user, device).Count;

    public bool HasMail(string app, string user, string device, in Collapse of) => Mail(app, user, device, of).Count > 0;

    public async ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken)
    {
        var mail = ReadFault is null ? Mail(app, user, device, of) : throw ReadFault;
        await ReadingMail;
        return mail;
    }

    public ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            var over = _events.Values.Where(one => one.ExpiresAt <= until && !_finished.Contains(one.Id)).Select(one => UnfinishedFold.Fold(HistoryOf(one)))
                .Select(one => one with { Deliveries = [.. one.Deliveries.Where(delivery => delivery.IsResting && !_over.Contains((one.Event.Id, delivery.User, delivery.Device))).Take(MostOver)] }).ToList();
            _over.UnionWith(over.SelectMany(static one => one.Deliveries.Select(delivery => (one.Event.Id, delivery.User, delivery.Device))));
            return new([.. over.Where(static one => one.Deliveries.Count > 0)]);
        }
    }

    private IReadOnlyList<RestingEvent> Mail(string app, string user, string device, Collapse? of = null)
    {
        lock (_gate)
        {
            if (!_hasRested)
            {
                return []; // each session that opens asks
            }

            return
            [
                .. _events.Values
                    .Where(one => one.App == app && !_finished.Contains(one.Id))
                    .OrderBy(static one => one.AcceptedAt)
                    .Select(one => UnfinishedFold.Fold(HistoryOf(one)))
                    .Where(one => !one.Withdrawn.Any(from => from is null || from == user))
                    .SelectMany(one => one.Deliveries
                        .Where(delivery => delivery.IsResting && delivery.User == user && delivery.Device == device)
                        .Where(delivery => of is not { } key || (RestedOf(one.Event.Id, delivery) is var rested && (rested.Class, rested.CollapseKey) == (key.Class, key.Key)))
                        .Select(delivery => new RestingEvent(one.Event, delivery.IsSettled, RestedOf(one.Event.Id, delivery).IsAlone)))
            ];
        }
    }

    private Milestone RestedOf(string id, UnfinishedDelivery delivery) =>
        _milestones.Last(one => one.Kind == MilestoneKind.Rested && one.Event == id && one.User == delivery.User && one.Device == delivery.Device);

    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (var unfinished in Unfinished)
        {
            await Task.Yield();
            cancellationToken.ThrowIfCancellationRequested();
            yield return unfinished;
        }
    }

    /// <summary>This journal as the next run finds it: every note written, every event that is not finished.</summary>
    public FakeJournal Restart()
    {
        var next = new FakeJournal();
        lock (_gate)
        {
            next._milestones.AddRange(_milestones);
            next._ended.UnionWith(_ended);
            next._finished.AddRange(_finished);
            next._hasRested = _hasRested;
            foreach (var (id, accepted) in _events)
            {
                next._events.Add(id, accepted);
                if (!_finished.Contains(id) && !_milestones.Exists(one => one.Event == id && one is { Kind: MilestoneKind.Rested, Device: null }))
                {
                    next.Unfinished.Add(UnfinishedFold.Fold(HistoryOf(accepted)));
                }
            }

            var open = _events.Values.Where(one => !_finished.Contains(one.Id));
            next.PendingMail = open.Select(one => (Of: (one.App, one.Class), Count: UnfinishedFold.Fold(HistoryOf(one)).Deliveries.Count(static each => each is { IsResting: true, IsSettled: false })))
                .GroupBy(static one => one.Of).ToDictionary(static one => one.Key, static one => one.Sum(each => each.Count));
        }

        return next;
    }

    private EventHistory HistoryOf(Event accepted) => new(Stored(accepted), [.. _milestones.Where(m => m.Event == accepted.Id)]);

    private static StoredEvent Stored(Event accepted) => new(
        accepted.App, accepted.Id, accepted.IdGiven, accepted.AcceptedAt, accepted.ExpiresAt, accepted.TraceParent, accepted.Body);

    private List<T> Copy<T>(List<T> list)
    {
        lock (_gate)
        {
            return [.. list];
        }
    }
}
