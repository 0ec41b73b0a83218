using Microsoft.Extensions.Logging;
using Pnh.Core.Diagnostics;
using Pnh.Core.Dispatch;
using Pnh.Core.Events;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Shards;
using Pnh.Core.Stores;

namespace Pnh.Core.Hubs;

/// <summary>The way of an event to its 202: through the door, to the journal, to its deliveries. Thread-safe.</summary>
public sealed partial class EventAcceptor
{
    // What waits goes in minutes, not in moments.
    private const int MemoryRetrySeconds = 5;

    // One of them, by chance: publishers that were refused together do not come back together. With two the hub was idle and full in turn.
    private const int MostOverloadRetrySeconds = 4;

    /// <summary>What a publisher reads whose app holds more than its share of the memory.</summary>
    public const string ShareUsedUp = "Your app's share of the memory for waiting events is used up: it comes back as they are delivered, taken back, or expire. Other apps have room.";

    private static readonly TimeSpan UnavailableRetry = TimeSpan.FromSeconds(5);
    private readonly ShardContext _context;
    private readonly Dispatcher _dispatcher;
    private readonly IDeviceStore _devices;
    private readonly IntakeGate _gate;
    private readonly MemoryDoor _memory;
    private readonly StoreFaults _faults;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly CancellationToken _stopping;

    /// <param name="context">What shards share.</param>
    /// <param name="dispatcher">Where events go on.</param>
    /// <param name="devices">Knows which topics are small.</param>
    /// <param name="gate">The door.</param>
    /// <param name="memory">Refuses for want of memory.</param>
    /// <param name="faults">Hears of a journal that takes nothing.</param>
    /// <param name="log">Gets bugs.</param>
    /// <param name="stopping">From then on all are refused.</param>
    internal EventAcceptor(
        ShardContext context, Dispatcher dispatcher, IDeviceStore devices, IntakeGate gate, MemoryDoor memory, StoreFaults faults, ILogger log, CancellationToken stopping)
    {
        (_context, _dispatcher, _devices, _gate, _memory, _faults, _log, _stopping) = (context, dispatcher, devices, gate, memory, faults, log, stopping);
        _time = context.Time;
    }

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

    /// <summary>Whether an event of the app and the class may come in. When it may, the <paramref name="place"/> is the caller's, who gives it to <see cref="AcceptAsync"/> or back to the <see cref="Gate"/>.</summary>
    /// <param name="app">Whose event.</param>
    /// <param name="class">Its class.</param>
    /// <param name="sender">A number of the connection, or of the event.</param>
    /// <param name="place">Its place.</param>
    public DoorAnswer Ask(string app, EventClass @class, int sender, out IntakeGate.Place place)
    {
        place = default;
        var answer = _memory.Ask(app, @class);
        return answer != DoorAnswer.Taken || _gate.TryEnter(app, @class, sender, out place) ? answer : DoorAnswer.Overloaded;
    }

    /// <summary>After how many seconds the publisher of a refused event shall come back.</summary>
    public static int RetrySeconds(DoorAnswer refusal) => refusal == DoorAnswer.Overloaded ? Random.Shared.Next(1, MostOverloadRetrySeconds + 1) : MemoryRetrySeconds;

    /// <summary>Whose events are refused for want of memory, in one line; null = nobody's.</summary>
    public string? MemoryShortage => _memory.Shortage;

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

        // Asked once: who has a place has been asked, and an upload has its own door.
        var answer = place.IsTaken ? DoorAnswer.Taken
            : isOfUpload ? _memory.Ask(accepted.App, accepted.Class)
            : Ask(accepted.App, accepted.Class, accepted.Id.GetHashCode(StringComparison.Ordinal), out place);
        if (answer != DoorAnswer.Taken)
        {
            return Refused(accepted, place, EventResult.Overloaded, RefusalOf(answer, accepted.Class));
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

    private static AcceptResult RefusalOf(DoorAnswer answer, EventClass @class)
    {
        var retry = TimeSpan.FromSeconds(RetrySeconds(answer));
        return answer switch
        {
            DoorAnswer.Overloaded => new AcceptResult(AcceptStatus.Overloaded, $"Too many events of class {@class.Label()} wait.", retry),
            DoorAnswer.ShareUsedUp => new AcceptResult(AcceptStatus.MemoryFull, ShareUsedUp, retry),
            _ => new AcceptResult(AcceptStatus.MemoryFull, $"What waits takes the memory that events of class {@class.Label()} may take.", retry),
        };
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
            Log.JournalBroke(_log, accepted.Id, accepted.App, bug);
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

    private static partial class Log
    {
        [LoggerMessage(9, LogLevel.Error, "The journal broke on event {Id} of app {App}, which was refused with 503; this is a bug.", EventName = "JournalBroke")]
        internal static partial void JournalBroke(ILogger logger, string id, string app, Exception bug);
    }
}
