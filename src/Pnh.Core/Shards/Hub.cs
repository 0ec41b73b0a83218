using Microsoft.Extensions.Logging;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>
/// The way through the house: an event comes in at <see cref="AcceptAsync"/>, is decided in its user's shard, and leaves through a
/// session or a lane; acks and provider answers come back to the shard. Thread-safe; one per process.
/// </summary>
public sealed partial class Hub : ISessionEvents, ILaneOwner, IAsyncDisposable
{
    // Far more than cores, so that two busy users rarely meet; few enough that ticking them all costs nothing.
    private const int ShardCount = 64;

    // A fan-out gives way to others after so many users: 2,000 sends take some 8 ms of one core.
    private const int YieldEvery = 128;
    private static readonly TimeSpan OverloadedRetry = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan UnavailableRetry = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan StoreFaultEvery = TimeSpan.FromSeconds(5);
    private readonly Shard[] _shards = new Shard[ShardCount];
    private readonly ShardContext _context;
    private readonly IDeviceStore _devices;
    private readonly Admission _admission = new();
    private readonly TimeProvider _time;
    private readonly ILogger<Hub> _log;
    private readonly List<IDisposable> _registrations = [];
    private readonly CancellationTokenSource _stopping = new();
    private bool _disposed;
    private Task _ticking = Task.CompletedTask;
    private long _storeFaultAt;

    /// <summary>Composes the hub; <see cref="StartAsync"/> sets it going.</summary>
    public Hub(Planner planner, IEventJournal journal, IDeviceStore devices, HubMetrics metrics, TimeProvider time, ILogger<Hub> log)
    {
        _devices = devices;
        _time = time;
        _log = log;
        _context = new ShardContext { Planner = planner, Journal = journal, Metrics = metrics, Time = time };
        _context.Lanes = new LaneTable(this, metrics, time);
        for (var i = 0; i < ShardCount; i++)
        {
            _shards[i] = new Shard(_context);
        }

        foreach (var @class in EventClassNames.All.ToArray())
        {
            _registrations.Add(metrics.RegisterQueue("accept", @class, () => _admission.Inside(@class), () => 0));
        }
    }

    /// <summary>How many timers are set over all shards: 0 when every delivery has ended.</summary>
    internal int Timers => _shards.Sum(s => s.Timers);

    /// <summary>True when no lane has anything to do.</summary>
    internal bool AreLanesIdle => _context.Lanes.IsIdle;

    /// <summary>
    /// Takes an event: journals it (unless transient), then plans it and starts its deliveries. When it says Accepted, the promise of a
    /// 202 holds. An event once journaled is dispatched whatever becomes of the caller.
    /// </summary>
    public ValueTask<AcceptResult> AcceptAsync(Event accepted) => FinishAsync(accepted, Enter(accepted));

    /// <summary>What would happen, per user and device, without anything happening.</summary>
    public async IAsyncEnumerable<UserPlan> ExplainAsync(Event accepted, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        await foreach (var user in TargetsAsync(accepted, cancellationToken).ConfigureAwait(false))
        {
            var key = new UserKey(accepted.App, user);
            var snapshot = await _devices.GetUserAsync(key, cancellationToken).ConfigureAwait(false);
            var plans = new List<DevicePlan>();
            ShardOf(key).Explain(accepted, key, snapshot, plans);
            yield return new UserPlan(user, plans);
        }
    }

    /// <summary>The user's live sessions.</summary>
    public IReadOnlyList<LiveSession> Sessions(UserKey user) => ShardOf(user).Sessions(user);

    /// <summary>Closes the user's sessions for good; returns how many there were.</summary>
    public int Kick(UserKey user)
    {
        var sessions = ShardOf(user).Sessions(user);
        foreach (var session in sessions)
        {
            session.Link.Close(session.Key.Session, SessionClose.Kicked);
        }

        return sessions.Length;
    }

    /// <inheritdoc/>
    public ValueTask OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        ShardOf(opened.Key).Open(opened);
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public void Closed(SessionKey session) => ShardOf(session).Close(session);

    /// <inheritdoc/>
    public void Detached(SessionKey session) => Closed(session);

    /// <inheritdoc/>
    public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, CancellationToken cancellationToken) => ValueTask.FromResult(false);

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId)
    {
    }

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer)
    {
    }

    /// <inheritdoc/>
    public void Joined(SessionKey session, IReadOnlyList<string> topics)
    {
    }

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics)
    {
    }

    /// <inheritdoc/>
    public ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
        ValueTask.FromResult<SendRefusal?>(new("not-allowed", "The app does not let clients publish."));

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state) => ShardOf(session).ChangeState(session, state);

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => ShardOf(session).Ack(session, eventId);

    /// <summary>
    /// Takes several events as <see cref="AcceptAsync"/> takes one, with one flush of the journal for all that arrived together. They are
    /// dispatched in their order, so a user's events keep theirs.
    /// </summary>
    public async ValueTask<AcceptResult[]> AcceptManyAsync(IReadOnlyList<Event> events)
    {
        var entries = new Entry[events.Count];
        for (var i = 0; i < entries.Length; i++)
        {
            entries[i] = Enter(events[i]);
        }

        var results = new AcceptResult[entries.Length];
        for (var i = 0; i < entries.Length; i++)
        {
            results[i] = await FinishAsync(events[i], entries[i]).ConfigureAwait(false);
        }

        return results;
    }

    /// <summary>Through the door and on the way to the journal, or refused at once.</summary>
    private Entry Enter(Event accepted)
    {
        if (_stopping.IsCancellationRequested)
        {
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new Entry(new AcceptResult(AcceptStatus.Stopping, "The hub is stopping.", UnavailableRetry));
        }

        if (!_admission.TryEnter(accepted.Class))
        {
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Overloaded);
            return new Entry(new AcceptResult(AcceptStatus.Overloaded, $"Too many events of class {accepted.Class.Label()} wait.", OverloadedRetry));
        }

        return new Entry(accepted.IsDurable
            ? _context.Journal.AppendAsync(accepted, CancellationToken.None)
            : ValueTask.FromResult(AppendResult.Appended));
    }

    /// <summary>Answers whatever happens: a batch has other events in it, which have their places and their appends.</summary>
    private async ValueTask<AcceptResult> FinishAsync(Event accepted, Entry entry)
    {
        if (entry.Refused is { } refused)
        {
            return refused;
        }

        try
        {
            switch (await entry.Append.ConfigureAwait(false))
            {
                case AppendResult.Duplicate:
                    _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Duplicate);
                    return new AcceptResult(AcceptStatus.Duplicate);
                case AppendResult.Conflict:
                    _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Conflict);
                    return new AcceptResult(AcceptStatus.Conflict, "Another event with this id was accepted before.");
            }

            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Accepted);
            _context.Metrics.RequestServed();
            await DispatchAsync(accepted, null).ConfigureAwait(false);
            return new AcceptResult(AcceptStatus.Accepted);
        }
        catch (StoreUnavailableException fault)
        {
            NoteStoreFault(fault.Message);
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new AcceptResult(AcceptStatus.Unavailable, fault.Message, UnavailableRetry);
        }
        catch (Exception bug)
        {
            // Of the journal, since dispatch lets nothing out.
            Log.JournalBroke(_log, accepted.Id, bug);
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new AcceptResult(AcceptStatus.Unavailable, "The journal failed.", UnavailableRetry);
        }
        finally
        {
            _admission.Leave(accepted.Class);
        }
    }

    /// <summary>Plans the event and starts its deliveries; false when something broke on the way, which is logged.</summary>
    private async ValueTask<bool> DispatchAsync(Event accepted, IReadOnlySet<(string User, string Device)>? settled)
    {
        var progress = new EventProgress(accepted);
        var users = 0;
        try
        {
            if (accepted.To.Topic is null)
            {
                foreach (var user in accepted.To.Users)
                {
                    await DispatchAsync(progress, user, settled).ConfigureAwait(false);
                    await YieldAsync(++users).ConfigureAwait(false);
                }
            }
            else
            {
                await foreach (var user in TargetsAsync(accepted, CancellationToken.None).ConfigureAwait(false))
                {
                    await DispatchAsync(progress, user, settled).ConfigureAwait(false);
                    await YieldAsync(++users).ConfigureAwait(false);
                }
            }

            _context.Close(progress);
            return true;
        }
        catch (Exception fault)
        {
            // Journaled, so accepted: what could not be planned now is taken up again at the next start, because the event stays open.
            Log.DispatchCut(_log, accepted.Id, fault.Message, fault is StoreUnavailableException ? null : fault);
            return false;
        }
    }

    private async ValueTask DispatchAsync(EventProgress progress, string user, IReadOnlySet<(string User, string Device)>? settled)
    {
        var key = new UserKey(progress.Event.App, user);
        var snapshot = await _devices.GetUserAsync(key, CancellationToken.None).ConfigureAwait(false);
        ShardOf(key).Dispatch(progress, key, snapshot, settled);
    }

    private static async ValueTask YieldAsync(int users)
    {
        if (users % YieldEvery == 0)
        {
            await Task.Yield();
        }
    }

    private async IAsyncEnumerable<string> TargetsAsync(Event accepted, [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken cancellationToken)
    {
        if (accepted.To.Topic is not { } topic)
        {
            foreach (var user in accepted.To.Users)
            {
                yield return user;
            }

            yield break;
        }

        await foreach (var member in _devices.GetMembersAsync(accepted.App, topic, cancellationToken).ConfigureAwait(false))
        {
            yield return member;
        }
    }

    /// <summary>An event at the door: refused, or on its way to the journal.</summary>
    private readonly record struct Entry(AcceptResult? Refused, ValueTask<AppendResult> Append)
    {
        public Entry(AcceptResult refused)
            : this(refused, default)
        {
        }

        public Entry(ValueTask<AppendResult> append)
            : this(null, append)
        {
        }
    }

    private Shard ShardOf(UserKey user) => _shards[(user.GetHashCode() & int.MaxValue) % ShardCount];

    private Shard ShardOf(SessionKey session) => ShardOf(new UserKey(session.App, session.User));
}

/// <summary>The plan for one user; no devices = nobody to deliver to.</summary>
public sealed record UserPlan(string User, IReadOnlyList<DevicePlan> Devices);
