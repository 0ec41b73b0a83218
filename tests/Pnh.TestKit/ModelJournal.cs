using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;

namespace Pnh.TestKit;

/// <summary>The contract in the fewest words: lists in memory. What an engine does is compared with it.</summary>
public sealed class ModelJournal(TimeProvider time, TimeSpan retention) : IEventJournal
{
    private readonly Lock _gate = new();
    private readonly List<Entry> _events = [];
    private readonly List<(string App, Milestone? Outcome, AddressNote? Address)> _feed = [];

    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        if (!accepted.IsDurable)
        {
            throw new ArgumentException("A transient event is not journaled.", nameof(accepted));
        }

        lock (_gate)
        {
            if (Find(accepted.App, accepted.Id) is { } standing)
            {
                return new(standing.Event.Body.Span.SequenceEqual(accepted.Body.Span) || IsSame(standing.Event.Body, accepted.Body)
                    ? AppendResult.Duplicate : AppendResult.Conflict);
            }

            _events.RemoveAll(entry => entry.Event.App == accepted.App && entry.Event.Id == accepted.Id);
            _events.Add(new Entry(
                new StoredEvent(accepted.App, accepted.Id, accepted.IdGiven, accepted.AcceptedAt, accepted.ExpiresAt, accepted.TraceParent, accepted.Body),
                accepted.Class));
            return new(AppendResult.Appended);
        }
    }

    public void Note(in Milestone milestone)
    {
        lock (_gate)
        {
            if (Any(milestone.App, milestone.Event) is { } entry)
            {
                entry.Milestones.Add(milestone);
                entry.Take(milestone);
                if (milestone is { Kind: MilestoneKind.Dispatched, User: not null }
                    || milestone.Kind is MilestoneKind.Settled or MilestoneKind.AckedLate or MilestoneKind.Withdrawn or MilestoneKind.Held or MilestoneKind.Unanswered)
                {
                    _feed.Add((milestone.App, milestone, null));
                }
            }
        }
    }

    public void Finish(string app, string id)
    {
        lock (_gate)
        {
            if (Any(app, id) is { } entry)
            {
                entry.IsFinished = true;
            }
        }
    }

    public void NoteAddress(in AddressNote note)
    {
        lock (_gate)
        {
            _feed.Add((note.App, null, note));
        }
    }

    public ValueTask<WithdrawResult> WithdrawAsync(
        string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (Find(app, id) is not { } entry)
            {
                return new(new WithdrawResult(WithdrawStatus.Unknown));
            }

            if (entry.Milestones.Exists(milestone => milestone.Kind == MilestoneKind.Withdrawn && (milestone.User is null || milestone.User == user)))
            {
                return new(new WithdrawResult(WithdrawStatus.Already));
            }

            var before = entry.History with { Milestones = [.. entry.Milestones.Where(milestone => user is null || milestone.User == user)] };
            Note(new Milestone(app, id, entry.Class, MilestoneKind.Withdrawn, at) { User = user, Reason = reason });
            return new(new WithdrawResult(WithdrawStatus.Withdrawn, before));
        }
    }

    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            return new(Find(app, id)?.History);
        }
    }

    public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            return new(Find(app, id)?.Event);
        }
    }

    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        new(Page(app, m => m.User == user && m.Kind is not (MilestoneKind.Framed or MilestoneKind.Reached or MilestoneKind.Rested), int.MaxValue, before, limit));

    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        new(Page(app, static m => m is { User: not null, Kind: MilestoneKind.Settled, State: "failed" or "expired" or "unconfirmed" }, 20, before, limit));

    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        new(Page(app, static _ => true, int.MaxValue, before, limit, withNone: true));

    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            var entries = new List<FeedEntry>();
            var at = after is null ? 0 : int.Parse(after, NumberStyles.None, CultureInfo.InvariantCulture);
            while (at < _feed.Count && entries.Count < limit)
            {
                var (owner, outcome, address) = _feed[at++];
                if (owner == app)
                {
                    entries.Add(new FeedEntry(at.ToString(CultureInfo.InvariantCulture), outcome, address));
                }
            }

            return new(new FeedPage(entries, at.ToString(CultureInfo.InvariantCulture), false, at == _feed.Count));
        }
    }

    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await Task.CompletedTask;
        var now = time.GetUtcNow();
        foreach (var entry in _events.Where(entry => entry is { IsFinished: false, IsRested: false } && (now < entry.Event.ExpiresAt || now < entry.Event.AcceptedAt + retention)).ToList())
        {
            yield return entry.Unfinished;
        }
    }

    public bool Rests(string app, string id, string user, string device)
    {
        lock (_gate)
        {
            return Any(app, id)?.Mail.ContainsKey((user, device)) == true;
        }
    }

    public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail => _events.Where(static entry => !entry.IsFinished)
        .Select(static entry => (Of: (entry.Event.App, entry.Class), Count: entry.Unfinished.Deliveries.Count(static one => one is { IsResting: true, IsSettled: false })))
        .GroupBy(static one => one.Of).Select(static one => (one.Key, Count: one.Sum(each => each.Count))).Where(static one => one.Count > 0).ToDictionary(static one => one.Key, static one => one.Count);

    public int CountMail(string app, string user, string device) => Mail(app, user, device).Count;

    public ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken) => new(Mail(app, user, device, of));

    public bool HasMail(string app, string user, string device, in Collapse of) => Mail(app, user, device, of).Count > 0;

    public ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            var found = new List<UnfinishedEvent>();
            foreach (var entry in _events)
            {
                var over = entry.Mail.Where(each => each.Value <= until).Select(static each => each.Key).Take(most).ToList();
                most -= over.Count;
                over.ForEach(each => entry.Mail.Remove(each));
                var share = entry.Unfinished.Deliveries.Where(one => one.IsResting && over.Contains((one.User, one.Device))).ToList();
                if (!entry.IsFinished && Find(entry.Event.App, entry.Event.Id) == entry && share.Count > 0)
                {
                    found.Add(entry.Unfinished with { Deliveries = share });
                }
            }

            return new(found);
        }
    }

    /// <summary>As an engine that is opened again: what was given as over is given again.</summary>
    public void Reopen() => _events.ForEach(static entry => entry.TakeAll());

    private IReadOnlyList<RestingEvent> Mail(string app, string user, string device, Collapse? of = null)
    {
        lock (_gate)
        {
            return
            [
                .. _events
                    .Where(entry => !entry.IsFinished && Find(app, entry.Event.Id) == entry && entry.Mail.ContainsKey((user, device)))
                    .Where(entry => !entry.Milestones.Exists(m => m.Kind == MilestoneKind.Withdrawn && (m.User is null || m.User == user)))
                    .OrderBy(static entry => entry.Event.AcceptedAt)
                    .Select(entry => RestingOf(entry, user, device, of))
                    .OfType<RestingEvent>()
            ];
        }
    }

    private static RestingEvent? RestingOf(Entry entry, string user, string device, Collapse? of)
    {
        var own = entry.Milestones.Where(one => one.User == user && one.Device == device).ToList();
        var at = own.FindLastIndex(static one => one.Kind == MilestoneKind.Rested || one.EndsRest);
        return at < 0 || own[at] is not { Kind: MilestoneKind.Rested } rested || (of is { } key && (rested.Class, rested.CollapseKey) != (key.Class, key.Key))
            ? null
            : new RestingEvent(entry.Event, rested.State is not null || own.Skip(at).Any(static one => one.Kind == MilestoneKind.Settled), rested.IsKept);
    }

    private static bool IsSame(ReadOnlyMemory<byte> one, ReadOnlyMemory<byte> other)
    {
        try
        {
            return JsonElement.DeepEquals(JsonDocument.Parse(one).RootElement, JsonDocument.Parse(other).RootElement);
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            return false;
        }
    }

    private UserEventPage Page(string app, Func<Milestone, bool> isAsked, int mostOfEach, string? before, int limit, bool withNone = false)
    {
        lock (_gate)
        {
            var from = before is null ? 0 : int.Parse(before, NumberStyles.None, CultureInfo.InvariantCulture);
            var all = _events
                .Where(entry => entry.Event.App == app && Find(app, entry.Event.Id) == entry)
                .Select(entry => new EventHistory(entry.Event, [.. entry.Milestones.Where(isAsked).TakeLast(mostOfEach)]))
                .Where(history => withNone || history.Milestones.Count > 0)
                .Reverse()
                .Skip(from)
                .ToList();
            return new UserEventPage([.. all.Take(limit)], all.Count > limit ? (from + limit).ToString(CultureInfo.InvariantCulture) : null);
        }
    }

    private Entry? Any(string app, string id) => _events.Find(entry => entry.Event.App == app && entry.Event.Id == id);

    /// <summary>Unless it is over.</summary>
    private Entry? Find(string app, string id) =>
        Any(app, id) is { } entry && (time.GetUtcNow() < entry.Event.AcceptedAt + retention || (!entry.IsFinished && time.GetUtcNow() < entry.Event.ExpiresAt))
            ? entry : null;

    private sealed class Entry(StoredEvent stored, EventClass @class)
    {
        public StoredEvent Event => stored;

        public EventClass Class => @class;

        public List<Milestone> Milestones { get; } = [];

        public bool IsFinished { get; set; }

        public bool IsRested { get; private set; }

        /// <summary>Deliveries that rest, with the event's end.</summary>
        public Dictionary<(string User, string Device), DateTimeOffset> Mail { get; } = [];

        public void Take(in Milestone milestone)
        {
            if (milestone is { Kind: MilestoneKind.Rested, User: { } user, Device: { } device })
            {
                Mail[(user, device)] = milestone.NextAttemptAt!.Value;
            }
            else if (milestone.Kind == MilestoneKind.Rested)
            {
                IsRested = true;
            }
            else if (milestone.Kind is MilestoneKind.AckedLate or MilestoneKind.Dropped || milestone is { Kind: MilestoneKind.Settled, IsKept: false })
            {
                Mail.Remove((milestone.User ?? "", milestone.Device ?? ""));
            }
        }

        public void TakeAll()
        {
            Mail.Clear();
            Milestones.ForEach(one => Take(one));
        }

        public EventHistory History => new(stored, [.. Milestones]);

        public UnfinishedEvent Unfinished
        {
            get
            {
                var deliveries = new List<UnfinishedDelivery>();
                foreach (var milestone in Milestones.Where(m => m.Device is not null))
                {
                    var at = deliveries.FindIndex(d => d.User == milestone.User && d.Device == milestone.Device);
                    if (at < 0 && milestone.Kind is MilestoneKind.Planned or MilestoneKind.Framed or MilestoneKind.Retry or MilestoneKind.Settled
                        or MilestoneKind.Held or MilestoneKind.Unanswered)
                    {
                        deliveries.Add(new UnfinishedDelivery(milestone.User!, milestone.Device!, false, false, 0, null));
                        at = deliveries.Count - 1;
                    }

                    if (at >= 0)
                    {
                        var isSettled = milestone.Kind == MilestoneKind.Settled;
                        deliveries[at] = milestone.Kind switch
                        {
                            MilestoneKind.Rested => deliveries[at] with { IsResting = true },
                            MilestoneKind.Planned or MilestoneKind.Settled => deliveries[at] with
                            {
                                IsResting = deliveries[at].IsResting && (!isSettled || milestone.IsKept),
                                IsKept = milestone.IsKept,
                                IsSettled = deliveries[at].IsSettled || isSettled,
                                IsRegistered = isSettled ? deliveries[at].IsRegistered : milestone.IsKept || milestone.Channel is not null,
                                IsJoined = isSettled ? deliveries[at].IsJoined : milestone.Reason == PlanReasons.JoinedTopic,
                            },
                            MilestoneKind.AckedLate or MilestoneKind.Dropped => deliveries[at] with { IsKept = false, IsResting = false },
                            MilestoneKind.Unanswered => deliveries[at] with
                            {
                                Attempts = milestone.Attempts,
                                NextAttemptAt = milestone.NextAttemptAt ?? milestone.At.AddSeconds(30),
                                Unanswered = deliveries[at].Unanswered + 1,
                            },
                            MilestoneKind.Retry or MilestoneKind.Held => deliveries[at] with
                            {
                                Attempts = milestone.Attempts,
                                NextAttemptAt = milestone.NextAttemptAt,
                                Unanswered = deliveries[at].Unanswered
                                    - (milestone.Kind == MilestoneKind.Retry && deliveries[at] is { Unanswered: > 0 } and var d && d.Attempts == milestone.Attempts ? 1 : 0),
                            },
                            _ => deliveries[at],
                        };
                    }
                }

                return new UnfinishedEvent(
                    stored,
                    Milestones.Exists(milestone => milestone.Kind == MilestoneKind.Dispatched),
                    [.. Milestones.Where(milestone => milestone.Kind == MilestoneKind.Withdrawn).Select(milestone => milestone.User)],
                    deliveries)
                {
                    Reached = Milestones.LastOrDefault(static milestone => milestone.Kind == MilestoneKind.Reached).Reason ?? "",
                };
            }
        }
    }
}
