using Microsoft.Extensions.Logging;
using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.FanOuts;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.Core.Lanes;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;
using Pnh.Core.Withdrawals;

namespace Pnh.Core.Hubs;

/// <summary>
/// The way through the house: an event comes in at <see cref="AcceptAsync"/>, is decided in its user's shard, and leaves through a
/// session or a lane; acks and provider answers come back to the shard. Thread-safe; one per process.
/// </summary>
public sealed partial class Hub : ISessionEvents, IAsyncDisposable
{
    /// <summary>Retry-After of what is refused for want of memory: what waits goes in minutes, not in moments.</summary>
    public const int MemoryRetrySeconds = 5;

    /// <summary>What a publisher reads whose app holds more than its share of the memory.</summary>
    public const string ShareUsedUp = "Your app's share of the memory for waiting events is used up: it comes back as they are delivered, taken back, or expire. Other apps have room.";

    private static readonly TimeSpan OverloadedRetry = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan MemoryRetry = TimeSpan.FromSeconds(MemoryRetrySeconds);
    private static readonly TimeSpan UnavailableRetry = TimeSpan.FromSeconds(5);
    private readonly ShardMap _shards;
    private readonly ShardContext _context;
    private readonly Dispatcher _dispatcher;
    private readonly TakeBack _takeBack;
    private readonly IDeviceStore _devices;
    private readonly EventLoader _loader;
    private readonly BodyLoader _bodies;
    private readonly MailReader _mail;
    private readonly MailRest _rest;
    private readonly TopicTable _topics = new();
    private readonly HeldPushes _held;
    private readonly Memberships _memberships;
    private readonly ClientSends _sends;
    private readonly IntakeGate _gate;
    private readonly MemoryDoor _memory;
    private readonly HubOptions _options;
    private readonly TimeProvider _time;
    private readonly ILogger<Hub> _log;
    private readonly PacedLog _paced;
    private readonly StoreFaults _faults;
    private readonly List<IDisposable> _registrations = [];
    private readonly CancellationTokenSource _stopping = new();
    private bool _disposed;
    private volatile bool _isRecovered;
    private Task _ticking = Task.CompletedTask;
    private Task _resting = Task.CompletedTask;

    /// <summary>Composes the hub; <see cref="StartAsync"/> sets it going.</summary>
    public Hub(
        Planner planner, IEventJournal journal, IDeviceStore devices, EventReader reader, HubMetrics metrics, TimeProvider time, ILogger<Hub> log,
        HubOptions options, MemoryGuard? memory = null)
    {
        _memory = new MemoryDoor(memory, metrics.Ledger, log);
        _options = options;
        _gate = new IntakeGate(time, static () => Environment.CpuUsage.TotalTime, _stopping.Token);
        _loader = new EventLoader(journal, reader, time, log);
        _sends = new ClientSends(this, reader, options, time);
        _devices = devices;
        _time = time;
        _log = log;
        _paced = new PacedLog(log, time);
        _faults = new StoreFaults(log, time);
        Rests = new AddressRests(devices, journal, time, _paced);
        var reads = new PatientReads(devices, _faults.Awaited, time, _stopping.Token);
        _bodies = new BodyLoader(_loader, time, _paced, _stopping.Token);
        _mail = new MailReader(journal, _loader, time, _paced, _stopping.Token);
        _held = new HeldPushes(devices, reads, _loader, log, time, _stopping.Token);
        _context = new ShardContext
        {
            Planner = planner,
            Journal = journal,
            Metrics = metrics,
            Time = time,
            MailboxItems = options.MailboxItems,
            ReadMail = _mail.Read,
            CollapseMail = _mail.Collapse,
            ContentTexts = options.ContentTexts,
            Ticker = new WheelTicker(time),
            Lanes = new LaneTable(new LaneReports(devices, Rests, metrics, time, _paced), metrics, time),
            Load = _bodies.Load,
            Release = _held.Add,
        };
        _shards = new ShardMap(_context, bug => Log.TickBroke(log, bug));
        _memberships = new Memberships(devices, _topics, _shards, reads, _faults.Awaited);
        _dispatcher = new Dispatcher(_context, _shards, devices, _topics, reads, _loader, _faults.Awaited, log, _stopping.Token);
        _takeBack = new TakeBack(_context, _shards, _dispatcher, reads, _loader, _faults.Awaited, _paced);
        _rest = new MailRest(_shards, journal, _loader, options.MailboxItems, time, _faults.Awaited, log, _stopping.Token);
        Inbox = new Inbox(_shards, _loader, _mail);
        _registrations.Add(metrics.RegisterIntakeLimit(() => _gate.Limit.Events));
        foreach (var @class in EventClassNames.All.ToArray())
        {
            _registrations.Add(metrics.RegisterQueue("fan-out", @class, () => _dispatcher.FanOuts.CountOf(@class), () => _dispatcher.FanOuts.AgeOf(@class)));
            _registrations.Add(metrics.RegisterQueue("accept", @class, () => _gate.Inside(@class), () => _gate.Limit.Wait.TotalSeconds));
        }
    }

    /// <summary>How many timers are set over all shards: 0 when every delivery has ended.</summary>
    internal int Timers => _shards.Timers;

    /// <summary>Addresses that get no pushes for now.</summary>
    public AddressRests Rests { get; }

    /// <summary>What waits for a device, for an app that asks.</summary>
    public Inbox Inbox { get; }

    /// <summary>Called with each event that was accepted, by many threads at once. Must return at once and not throw.</summary>
    public Action<Event> Accepted { get; set; } = static _ => { };

    /// <summary>The door: who has no place there is refused.</summary>
    public IntakeGate Gate => _gate;

    /// <summary>
    /// Takes a measurement. For one caller, some 10 times a second, and 100 times while the answer is true: something follows them. A wait that still goes on counts
    /// each time.
    /// </summary>
    /// <param name="pool">How long work waited for a thread of the pool.</param>
    /// <param name="loop">How long the busiest socket loop let the others wait; zero when there is none.</param>
    public bool Observe(TimeSpan pool, TimeSpan loop)
    {
        _memory.Observe();
        var wait = pool > loop ? pool : loop;
        _gate.Observe(wait);
        return _context.Lanes.Pace.Observe(pool) || _gate.Limit.IsNarrow || wait > ConcurrencyLimit.Courtesy;
    }

    /// <summary>True while events may be refused by their class, so that it has to be known before they are read.</summary>
    public bool MayRefuse => _gate.Limit.IsNarrow || _memory.MayRefuse;

    /// <summary>Whether the app's events of the class are taken, as far as the memory for what waits goes.</summary>
    public MemoryAnswer AskMemory(string app, EventClass @class) => _memory.Ask(app, @class);

    /// <summary>Whose events are refused for want of memory, in one line; null = nobody's.</summary>
    public string? MemoryShortage => _memory.Shortage;

    /// <summary>Users that a shard keeps something of: 0 when nothing is open and nobody is here.</summary>
    internal int Users => _shards.Users;

    /// <summary>Deliveries without a terminal state, counted one by one.</summary>
    internal int InFlight => _shards.InFlight;

    /// <summary>Topics that a session is in.</summary>
    internal int Topics => _topics.Count;

    /// <summary>The registry of memberships and settings, with the sessions that follow it.</summary>
    internal Memberships Memberships => _memberships;

    /// <summary>The sessions that joined the topic.</summary>
    internal IEnumerable<SessionKey> JoinedOf(TopicKey topic) => (_topics.Find(topic)?.Read() ?? []).Select(static subscriber => subscriber.Key);

    /// <summary>The sessions of the topic's members.</summary>
    internal IEnumerable<SessionKey> MembersOf(TopicKey topic) => (_topics.Find(topic)?.ReadMembers() ?? []).Select(static subscriber => subscriber.Key);

    /// <summary>What leaves memory, and what is over where it rests.</summary>
    internal MailRest Rest => _rest;

    /// <summary>True when no lane has anything to do and no body is being read back.</summary>
    internal bool IsIdle => _held.IsIdle && _context.Lanes.IsIdle && _bodies.IsIdle && _mail.IsIdle;

    /// <summary>
    /// Takes an event: journals it (unless transient), then plans it and starts its deliveries. When it says Accepted, the promise of a
    /// 202 holds. An event once journaled is dispatched whatever becomes of the caller.
    /// </summary>
    /// <param name="accepted">The event.</param>
    /// <param name="place">Its place, when it went through the <see cref="Gate"/> unread; it is given back here.</param>
    public ValueTask<AcceptResult> AcceptAsync(Event accepted, IntakeGate.Place place = default) => _dispatcher.FanOuts.Count > 0 && IsHeldBack(accepted)
        ? AcceptWhenRoomAsync(accepted, place)
        : FinishAsync(accepted, Enter(accepted, place, isOfUpload: false));

    /// <summary>Through the door and on the way to the journal, or refused at once; with a place that it has, or one of its own.</summary>
    private Entry Enter(Event accepted, IntakeGate.Place place, bool isOfUpload)
    {
        if (_stopping.IsCancellationRequested)
        {
            return Refused(accepted, place, EventResult.Unavailable, new AcceptResult(AcceptStatus.Stopping, "The hub is stopping.", UnavailableRetry));
        }

        if (_memory.Ask(accepted.App, accepted.Class) is not MemoryAnswer.Taken and var answer)
        {
            var shortage = answer == MemoryAnswer.ShareUsedUp ? ShareUsedUp : $"What waits takes the memory that events of class {accepted.Class.Label()} may take.";
            return Refused(accepted, place, EventResult.Overloaded, new AcceptResult(AcceptStatus.MemoryFull, shortage, MemoryRetry));
        }

        if (!isOfUpload && !place.IsTaken && !_gate.TryEnter(accepted.App, accepted.Class, accepted.Id.GetHashCode(StringComparison.Ordinal), out place))
        {
            var crowd = $"Too many events of class {accepted.Class.Label()} wait.";
            return Refused(accepted, place, EventResult.Overloaded, new AcceptResult(AcceptStatus.Overloaded, crowd, OverloadedRetry));
        }

        if (!accepted.IsDurable)
        {
            return new Entry(null, null, place, ValueTask.FromResult(AppendResult.Appended));
        }

        // Known before it is stored, so that a caller that takes it back waits for its deliveries to begin.
        var progress = new EventProgress(accepted, _context.Metrics.Ledger.Of(accepted.App));
        _dispatcher.Begin(progress);
        return new Entry(null, progress, place, _context.Journal.AppendAsync(accepted, CancellationToken.None));
    }

    private Entry Refused(Event refused, IntakeGate.Place place, EventResult counted, AcceptResult answer)
    {
        _gate.Leave(place);
        _context.Metrics.EventCounted(refused.App, refused.Class, counted);
        return new Entry(answer);
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
            Accepted(accepted);
            EventTraces.Accepted(accepted, _time);
            isNew = true;
            if (accepted is { IsDurable: true, AcceptedTimestamp: not 0 } && entry.Place.IsTaken)
            {
                _gate.Limit.Answered(_time.GetElapsedTime(accepted.AcceptedTimestamp));
            }

            await _dispatcher.DispatchAsync(accepted, entry.Progress).ConfigureAwait(false);
            return new AcceptResult(AcceptStatus.Accepted) { HasNoDevices = accepted.To.Users.Count == 1 && entry.Progress is { IsKnownEmpty: true } empty && !_dispatcher.Awaited.Holds(empty) };
        }
        catch (StoreUnavailableException fault)
        {
            _faults.Refused(fault.Message);
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new AcceptResult(AcceptStatus.Unavailable, fault.Message, UnavailableRetry);
        }
        catch (Exception bug)
        {
            // Of the journal, since dispatch lets nothing out.
            Log.JournalBroke(_paced, accepted.Id, accepted.App, bug);
            _context.Metrics.EventCounted(accepted.App, accepted.Class, EventResult.Unavailable);
            return new AcceptResult(AcceptStatus.Unavailable, "The journal failed.", UnavailableRetry);
        }
        finally
        {
            if (!isNew)
            {
                _dispatcher.End(entry.Progress);
            }

            _gate.Leave(entry.Place);
        }
    }

    /// <summary>An event at the door: refused, or on its way to the journal.</summary>
    private readonly record struct Entry(AcceptResult? Refused, EventProgress? Progress, IntakeGate.Place Place, ValueTask<AppendResult> Append)
    {
        public Entry(AcceptResult refused)
            : this(refused, null, default, default)
        {
        }
    }
}
