using System.Runtime.CompilerServices;
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

    private static readonly TimeSpan OverloadedRetry = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan UnavailableRetry = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan StoreFaultEvery = TimeSpan.FromSeconds(5);
    private readonly Shard[] _shards = new Shard[ShardCount];
    private readonly ShardContext _context;
    private readonly DispatchTable _dispatching = new();
    private readonly IDeviceStore _devices;
    private readonly EventLoader _loader;
    private readonly TopicTable _topics = new();
    private readonly ClientSends _sends;
    private readonly Admission _admission;
    private readonly TimeProvider _time;
    private readonly ILogger<Hub> _log;
    private readonly List<IDisposable> _registrations = [];
    private readonly Turns _turns;
    private readonly CancellationTokenSource _stopping = new();
    private bool _disposed;
    private Task _ticking = Task.CompletedTask;
    private long _storeFaultAt;
    private int _loading;

    /// <summary>Composes the hub; <see cref="StartAsync"/> sets it going.</summary>
    public Hub(
        Planner planner, IEventJournal journal, IDeviceStore devices, EventReader reader, HubMetrics metrics, TimeProvider time, ILogger<Hub> log,
        HubOptions options)
    {
        _admission = new Admission(_stopping.Token);
        Shedder = new LoadShedder(time, static () => Environment.CpuUsage.TotalTime, () => _admission.Alone);
        _loader = new EventLoader(journal, reader, time, log);
        _sends = new ClientSends(this, reader, options, time);
        _devices = devices;
        _time = time;
        _log = log;
        _turns = new Turns(time);
        _context = new ShardContext
        {
            Planner = planner,
            Journal = journal,
            Metrics = metrics,
            Time = time,
            MailboxItems = options.MailboxItems,
            Ticker = new WheelTicker(time),
            Load = Load,
        };
        _context.Lanes = new LaneTable(this, metrics, time);
        for (var i = 0; i < ShardCount; i++)
        {
            _shards[i] = new Shard(_context);
        }

        foreach (var @class in EventClassNames.All.ToArray())
        {
            _registrations.Add(metrics.RegisterQueue("accept", @class, () => _admission.Inside(@class), () => Shedder.Wait.TotalSeconds));
        }
    }

    /// <summary>How many timers are set over all shards: 0 when every delivery has ended.</summary>
    internal int Timers => _shards.Sum(s => s.Timers);

    /// <summary>Says which classes are refused while the cores are too busy.</summary>
    public LoadShedder Shedder { get; }

    /// <summary>
    /// Takes a measurement. For one caller, some 20 times a second, and 100 times while the answer is true: something follows them. A wait that still goes on is told
    /// each time.
    /// </summary>
    /// <param name="pool">How long work waited for a thread of the pool.</param>
    /// <param name="loop">How long the busiest socket loop let the others wait; zero when there is none.</param>
    public bool Observe(TimeSpan pool, TimeSpan loop)
    {
        var wait = pool > loop ? pool : loop;
        Shedder.Observe(wait);
        return _context.Lanes.Pace.Observe(pool) || Shedder.IsShedding || wait > LoadShedder.Courtesy;
    }

    /// <summary>Users that a shard keeps something of: 0 when nothing is open and nobody is here.</summary>
    internal int Users => _shards.Sum(s => s.Users);

    /// <summary>Deliveries without a terminal state, counted one by one.</summary>
    internal int InFlight => _shards.Sum(s => s.CountInFlight());

    /// <summary>Topics that a session is in.</summary>
    internal int Topics => _topics.Count;

    /// <summary>True when no lane has anything to do and no body is being read back.</summary>
    internal bool IsIdle => _context.Lanes.IsIdle && Volatile.Read(ref _loading) == 0;

    /// <summary>
    /// Takes an event: journals it (unless transient), then plans it and starts its deliveries. When it says Accepted, the promise of a
    /// 202 holds. An event once journaled is dispatched whatever becomes of the caller.
    /// </summary>
    /// <param name="accepted">The event.</param>
    /// <param name="isAdmitted">True when <see cref="Shedder"/> was asked already, before the body was read.</param>
    public ValueTask<AcceptResult> AcceptAsync(Event accepted, bool isAdmitted = false) => FinishAsync(accepted, Enter(accepted, isAdmitted, ofUpload: null));

    /// <summary>What would happen, per user and device, without anything happening.</summary>
    public async IAsyncEnumerable<UserPlan> ExplainAsync(Event accepted, [EnumeratorCancellation] CancellationToken cancellationToken)
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

    /// <summary>Through the door and on the way to the journal, or refused at once; with a place that its upload has, or one of its own.</summary>
    private Entry Enter(Event accepted, bool isAdmitted, Admission.Place? ofUpload)
    {
        if (_stopping.IsCancellationRequested)
        {
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new Entry(new AcceptResult(AcceptStatus.Stopping, "The hub is stopping.", UnavailableRetry));
        }

        Shedder.Count();
        var place = ofUpload.GetValueOrDefault();
        if ((!isAdmitted && Shedder.Sheds(accepted.Class, accepted.Id.GetHashCode(StringComparison.Ordinal)))
            || (ofUpload is null && !_admission.TryEnter(accepted.App, accepted.Class, out place)))
        {
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Overloaded);
            return new Entry(new AcceptResult(AcceptStatus.Overloaded, $"Too many events of class {accepted.Class.Label()} wait.", OverloadedRetry));
        }

        if (!accepted.IsDurable)
        {
            return new Entry(null, null, place, ValueTask.FromResult(AppendResult.Appended));
        }

        // Known before it is stored, so that whoever takes it back waits for its deliveries to begin.
        var progress = new EventProgress(accepted, _context.Metrics.Ledger.Of(accepted.App));
        _dispatching.Add(progress);
        return new Entry(null, progress, place, _context.Journal.AppendAsync(accepted, CancellationToken.None));
    }

    /// <summary>Answers whatever happens: a batch has other events in it, which have their places and their appends.</summary>
    private async ValueTask<AcceptResult> FinishAsync(Event accepted, Entry entry)
    {
        if (entry.Refused is { } refused)
        {
            return refused;
        }

        var isNew = false;
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
            isNew = true;
            if (accepted is { IsDurable: true, AcceptedTimestamp: not 0 })
            {
                Shedder.Answered(_time.GetElapsedTime(accepted.AcceptedTimestamp));
            }

            await DispatchAsync(accepted, entry.Progress, past: null).ConfigureAwait(false);
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
            if (!isNew)
            {
                DispatchEnded(entry.Progress);
            }

            _admission.Leave(entry.Place);
        }
    }

    private async IAsyncEnumerable<string> TargetsAsync(Event accepted, [EnumeratorCancellation] CancellationToken cancellationToken)
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
    private readonly record struct Entry(AcceptResult? Refused, EventProgress? Progress, Admission.Place Place, ValueTask<AppendResult> Append)
    {
        public Entry(AcceptResult refused)
            : this(refused, null, default, default)
        {
        }
    }

    private Shard ShardOf(UserKey user) => _shards[(user.GetHashCode() & int.MaxValue) % ShardCount];

    private Shard ShardOf(SessionKey session) => ShardOf(new UserKey(session.App, session.User));
}

/// <summary>The plan for one user; no devices = nobody to deliver to.</summary>
public sealed record UserPlan(string User, IReadOnlyList<DevicePlan> Devices);
