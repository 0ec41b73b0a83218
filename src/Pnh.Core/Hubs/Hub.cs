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
using Pnh.Core.Sessions;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Withdrawals;

namespace Pnh.Core.Hubs;

/// <summary>
/// The way through the house: an event comes in at the <see cref="Acceptor"/>, is decided in its user's shard, and leaves through a
/// session or a lane; acks and provider answers come back to the shard. Composes its parts; callers take the part that they use. Thread-safe; one per process.
/// </summary>
public sealed partial class Hub : IAsyncDisposable
{
    private readonly ShardContext _context;
    private readonly Dispatcher _dispatcher;
    private readonly TakeBack _takeBack;
    private readonly BodyLoader _bodies;
    private readonly MailReader _mail;
    private readonly HeldPushes _held;
    private readonly EventRecovery _recovery;
    private readonly List<IDisposable> _registrations = [];
    private readonly CancellationTokenSource _stopping = new();
    private bool _disposed;
    private Task _ticking = Task.CompletedTask;
    private Task _resting = Task.CompletedTask;

    /// <summary>Composes the hub; <see cref="StartAsync"/> sets it going.</summary>
    public Hub(
        Planner planner, IEventJournal journal, IDeviceStore devices, EventReader reader, HubMetrics metrics, TimeProvider time, ILogger<Hub> log,
        HubOptions options, MemoryGuard? memory = null)
    {
        var (paced, faults, gate) = (new PacedLog(log, time), new StoreFaults(log, time), new IntakeGate(time, static () => Environment.CpuUsage.TotalTime, _stopping.Token));
        var loader = new EventLoader(journal, reader, time, log);
        var reads = new PatientReads(devices, faults.Awaited, time, _stopping.Token);
        Rests = new AddressRests(devices, journal, time, paced);
        _bodies = new BodyLoader(loader, time, paced, _stopping.Token);
        _mail = new MailReader(journal, loader, time, paced, _stopping.Token);
        _held = new HeldPushes(devices, reads, loader, log, time, _stopping.Token);
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
            Lanes = new LaneTable(new LaneReports(devices, Rests, metrics, time, paced), metrics, time),
            Load = _bodies.Load,
            Release = _held.Add,
        };
        Shards = new ShardMap(_context, bug => Log.TickBroke(log, bug));
        _dispatcher = new Dispatcher(_context, Shards, devices, Topics, reads, loader, faults.Awaited, log, _stopping.Token);
        _takeBack = new TakeBack(_context, Shards, _dispatcher, reads, loader, faults.Awaited, paced);
        _recovery = new EventRecovery(_context, _dispatcher, _takeBack, loader, log);
        Memberships = new Memberships(devices, Topics, Shards, reads, faults.Awaited);
        Rest = new MailRest(Shards, journal, loader, options.MailboxItems, time, faults.Awaited, log, _stopping.Token);
        Inbox = new Inbox(Shards, loader, _mail);
        Explainer = new Explainer(_context, Shards, devices);
        Acceptor = new EventAcceptor(_context, _dispatcher, devices, gate, new MemoryDoor(memory, metrics.Ledger, log), faults, paced, _stopping.Token);
        var sends = new ClientSends(Acceptor, reader, options, time);
        Router = new SessionRouter(_context, Shards, _dispatcher, _takeBack, Topics, Memberships, devices, sends, faults, options.SessionsPerUser, paced);
        _registrations.Add(metrics.RegisterIntakeLimit(() => gate.Limit.Events));
        foreach (var @class in EventClassNames.All.ToArray())
        {
            _registrations.Add(metrics.RegisterQueue("fan-out", @class, () => _dispatcher.FanOuts.CountOf(@class), () => _dispatcher.FanOuts.AgeOf(@class)));
            _registrations.Add(metrics.RegisterQueue("accept", @class, () => gate.Inside(@class), () => gate.Limit.Wait.TotalSeconds));
        }
    }

    /// <summary>Takes events.</summary>
    public EventAcceptor Acceptor { get; }

    /// <summary>What sessions tell, and who has one.</summary>
    public SessionRouter Router { get; }

    /// <summary>What would happen to an event.</summary>
    public Explainer Explainer { get; }

    /// <summary>Addresses that get no pushes for now.</summary>
    public AddressRests Rests { get; }

    /// <summary>What waits for a device, for an app that asks.</summary>
    public Inbox Inbox { get; }

    /// <summary>Who is in which topic.</summary>
    internal TopicTable Topics { get; } = new();

    /// <summary>Where users live.</summary>
    internal ShardMap Shards { get; }

    /// <summary>The registry of memberships and settings, with the sessions that follow it.</summary>
    public Memberships Memberships { get; }

    /// <summary>What leaves memory, and what is over where it rests.</summary>
    internal MailRest Rest { get; }

    /// <summary>Fan-outs that go on behind their answers.</summary>
    internal int FanOuts => _dispatcher.FanOuts.Count;

    /// <summary>True when no lane has anything to do and no body is being read back.</summary>
    internal bool IsIdle => _held.IsIdle && _context.Lanes.IsIdle && _bodies.IsIdle && _mail.IsIdle;

    /// <summary>
    /// Takes an event back from one user or (null) from all: stops what waits, clears what was shown. Durable before it completes, and at most once.
    /// Throws <see cref="StoreUnavailableException"/>; then it may be tried again.
    /// </summary>
    public ValueTask<WithdrawStatus> WithdrawAsync(string app, string id, string reason, string? user, CancellationToken cancellationToken) =>
        _takeBack.RunAsync(new Withdrawal(app, id, reason, _context.Time.GetUtcNow()), reason, user, exceptDevice: null, cancellationToken);

    /// <summary>There was a process before this one, and its sessions come back within a minute: what is for a user without devices waits so long. Before <see cref="StartAsync"/>.</summary>
    public void AwaitReturns() => _dispatcher.Awaited.Open();

    /// <summary>The process begins to end: what sessions have not acknowledged, and what comes for users who are gone, is left to the next one. Before sessions are sent away.</summary>
    public void BeginStop()
    {
        _context.IsStopping = true;
        _dispatcher.Awaited.Stop();
    }

    /// <summary>The machine's clock was set: quiet hours, which are on a wall, may end at another time.</summary>
    public void ClockSet() => Shards.ReleaseHolds();

    /// <summary>
    /// Takes up what the previous process left unfinished, ends what expired meanwhile, then lets time pass. Events whose stored body cannot be read any more, or whose
    /// dispatch breaks, are reported and left alone. Call once, before the first event.
    /// </summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await RecoverAsync(cancellationToken).ConfigureAwait(false);
        _ticking = _context.Ticker.RunAsync(Advance, _stopping.Token);
        _resting = Rest.RunAsync();
    }

    /// <summary>The first half of it: a test lets time pass by itself.</summary>
    internal async Task RecoverAsync(CancellationToken cancellationToken)
    {
        await Rests.LoadAsync(cancellationToken).ConfigureAwait(false);
        await _recovery.RunAsync(cancellationToken).ConfigureAwait(false);
        Router.EndRecovery();
    }

    /// <summary>
    /// Takes no more events, waits for provider requests under way until <paramref name="deadline"/> is cancelled; what still waits is in
    /// the journal and goes on at the next start.
    /// </summary>
    public async Task StopAsync(CancellationToken deadline)
    {
        await _stopping.CancelAsync().ConfigureAwait(false);
        await _ticking.ConfigureAwait(false);
        await _resting.ConfigureAwait(false);
        await _context.Lanes.DrainAsync(deadline).ConfigureAwait(false);
        await _dispatcher.FanOuts.CloseAsync().WaitAsync(deadline).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Stops what <see cref="StopAsync"/> left. A second call does nothing: a container disposes once per service type.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, true))
        {
            return;
        }

        await _stopping.CancelAsync().ConfigureAwait(false);
        await _ticking.ConfigureAwait(false);
        await _resting.ConfigureAwait(false);
        await _dispatcher.FanOuts.CloseAsync().ConfigureAwait(false);
        await _context.Lanes.DisposeAsync().ConfigureAwait(false);
        _context.Ticker.Dispose();
        _registrations.ForEach(r => r.Dispose());
        _stopping.Dispose();
    }

    /// <summary>Does what is due now in all shards; true = a timer is still set.</summary>
    internal bool Advance() => Shards.Advance();

    private static partial class Log
    {
        [LoggerMessage(8, LogLevel.Error, "A shard's timers broke; this is a bug.", EventName = "TickBroke")]
        internal static partial void TickBroke(ILogger logger, Exception bug);
    }
}
