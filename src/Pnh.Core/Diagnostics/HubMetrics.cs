using System.Reflection;
using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using CollectorRegistry = Prometheus.CollectorRegistry;

namespace Pnh.Core.Diagnostics;

/// <summary>
/// Every <c>pnh_</c> metric of the process, and the only place that names one. Recording does not wait, does not allocate and does not share
/// a cache line between cores; sums are made on scrape. Thread-safe. One per <see cref="CollectorRegistry"/>.
/// </summary>
public sealed partial class HubMetrics : IDisposable
{
    private static readonly string[] ProviderStates = ["cold", "warm", "draining"];

    private readonly TimeProvider _time;
    private readonly long _started;
    private readonly QFactor _qFactor = new();
    private readonly EventCounters _events;
    private readonly ChannelTable _channels;
    private readonly StripedDurations[] _acceptToFrame;
    private readonly StripedDurations[] _ack;
    private readonly StripedDurations _journalSync;
    private readonly StripedDurations _threadPoolDelay;
    private readonly StripedCells _deadlineMissed = new(EventClassNames.All.Length);
    private readonly StripedCells _served = new(1);
    private readonly StripedCells _sessions = new(2);
    private readonly ReadingFamily _sessionsHeld;
    private readonly Registrations _sessionsCounted;
    private readonly ReadingFamily _queueItems;
    private readonly ReadingFamily _queueAge;
    private readonly ReadingFamily _providerConnections;
    private readonly ReadingFamily _providerInFlight;
    private readonly ReadingFamily[] _providerReadings;
    private readonly ReadingFamily _staleAddresses;
    private readonly ReadingFamily _journalDropped;
    private readonly ReadingFamily _directConnections;
    private readonly ReadingFamily _socketCloses;
    private readonly ReadingFamily _journalDamaged;
    private readonly ReadingFamily _journalResting;
    private readonly ReadingFamily _journalBytes;
    private readonly ReadingFamily _journalOldest;
    private readonly ReadingFamily _journalRetention;
    private readonly ReadingFamily _journalEarly;
    private readonly ReadingFamily _certificateLeft;
    private readonly ReadingFamily _clockSteps;
    private readonly ReadingFamily _clockAhead;
    private readonly ReadingFamily _diskFree;
    private readonly ReadingFamily _intakeLimit;
    private readonly ReadingFamily _memoryLive;
    private readonly ReadingFamily _memoryLimit;
    private readonly ReadingFamily _memoryRefuses;
    private readonly ReadingFamily _ready;
    private readonly ReadingFamily _storeClosed;
    // Each has some 80 series.
    private const int MostApps = 100;

    private readonly Lock _sampling = new();
    private readonly RecentQuantile _recentSync;
    private readonly RecentQuantile _recentFrame;
    private readonly RecentQuantile _recentThreadPool;
    private readonly IDisposable _samples;

    /// <summary>Registers all families and starts the second hand of the Q-factor.</summary>
    /// <param name="registry">Where the metrics are exported; one of its own for each hub.</param>
    /// <param name="time">Clock of the samples.</param>
    /// <param name="apps">The configured apps: the values of the label <c>app</c>; any other app, and the 101st by name, counts as <c>other</c>. Null = none.</param>
    public HubMetrics(CollectorRegistry registry, TimeProvider time, IEnumerable<string>? apps = null)
    {
        ArgumentNullException.ThrowIfNull(registry);
        ArgumentNullException.ThrowIfNull(time);
        _time = time;
        _started = time.GetTimestamp();
        var feed = new CollectFeed(registry);
        string[] labels = [.. (apps ?? []).Order(StringComparer.Ordinal).Take(MostApps)];
        _events = new EventCounters(feed, labels);
        Ledger = new Ledger(feed, labels);
        _channels = new ChannelTable(feed);
        _acceptToFrame = PerClass(feed.Durations(
            "pnh_accept_to_frame_seconds", "From accepting the event to its frame in a session's queue.", Buckets.Delivery, "class"));
        _ack = PerClass(feed.Durations("pnh_ack_seconds", "From a frame to the client's ack of it.", Buckets.Ack, "class"));
        _journalSync = feed.Durations("pnh_journal_sync_seconds", "One sync of the journal to stable storage.", Buckets.Sync)([]);
        _threadPoolDelay = feed.Durations(
            "pnh_threadpool_delay_seconds", "How long a queued work item waits for a pool thread.", Buckets.ThreadPool)([]);

        var missed = feed.Counters("pnh_deadline_missed_total", "Deliveries that left after their class's deadline.", "class");
        foreach (var @class in EventClassNames.All)
        {
            feed.Add(missed.WithLabels(@class.Label()), _deadlineMissed, (int)@class);
        }

        var served = feed.Counters(
            "pnh_requests_served_total", "Accepted events and completed deliveries; never errors, refusals or duplicates.");
        feed.Add(served.WithLabels(), _served, 0);
        _sessionsHeld = feed.Gauges("pnh_sessions", "Live sessions whose sockets this node holds, by what the client says of the screen.", Fold.Sum, "state");
        _sessionsCounted = RegisterSessions(() => _sessions.Read((int)SessionState.Active), () => _sessions.Read((int)SessionState.Background));
        _queueItems = feed.Gauges("pnh_queue_items", "Items in a bounded queue.", Fold.Sum, "queue", "class");
        _queueAge = feed.Gauges("pnh_queue_age_seconds", "Age of a queue's oldest item.", Fold.Max, "queue", "class");
        _providerConnections = feed.Gauges("pnh_provider_connections", "Connections to a provider.", Fold.Sum, "channel", "state");
        _providerInFlight = feed.Gauges("pnh_provider_in_flight", "Requests that wait for a provider's answer.", Fold.Sum, "channel");
        _directConnections = feed.Gauges("pnh_direct_connections", "Connections that the direct transport serves; Kestrel counts the others.");
        _socketCloses = feed.CounterReadings("pnh_socket_closes_total", "Sockets that ended, by the code of their close.", "code");
        _providerReadings = ProviderReadings.Families(feed);
        _staleAddresses = feed.Gauges("pnh_addresses_stale", "Push addresses that no app had confirmed for 270 days when the registry was last looked through.");
        _journalDropped = feed.CounterReadings("pnh_journal_dropped_notes_total", "Notes that the journal gave up because the disk took nothing for too long.");
        _journalDamaged = feed.CounterReadings("pnh_journal_damaged_records_total", "Damaged records that the journal found when it was opened, and put aside.");
        _journalResting = feed.Gauges("pnh_journal_resting", "Deliveries that wait in the journal for their device, with a terminal state or without.", Fold.Sum);
        _journalBytes = feed.Gauges("pnh_journal_bytes", "Bytes of the journal's files, with what is allocated ahead.");
        _journalOldest = feed.Gauges("pnh_journal_oldest_seconds", "How long ago the oldest part of the journal was begun: how far back history goes.", Fold.Max);
        _journalRetention = feed.Gauges("pnh_journal_retention_seconds", "How far back history shall go (Pnh:Journal:Retention).", Fold.Max);
        _certificateLeft = feed.Gauges("pnh_certificate_left_seconds", "Time until the certificate of the https listeners ends; negative = past.", Fold.Max);
        _addressesRested = feed.CounterReadings("pnh_addresses_rested_total", "Push addresses that were laid to rest, as the provider refused many of their account at once.", "channel");
        _addressesResting = feed.Gauges("pnh_addresses_resting", "Push addresses that rest now: they get no pushes.", Fold.Sum, "channel");
        _clockSteps = feed.CounterReadings("pnh_clock_steps_total", "How often the machine's clock was set by more than a few seconds while the hub ran.");
        _clockAhead = feed.Gauges("pnh_clock_ahead_seconds", "How far the hub's clock, which goes on evenly, is ahead of the machine's.", Fold.Max);
        _journalEarly = feed.CounterReadings("pnh_journal_retired_early_total", "Parts of the journal that went before their retention was over, as Pnh:Journal:MaxBytes was reached.");
        _diskFree = feed.Gauges("pnh_data_free_bytes", "Bytes that are free on the disk of the data folder.", Fold.Max);
        _intakeLimit = feed.Gauges("pnh_intake_limit", "Events that may be inside the hub at once; less while work queues for the cores.");
        _memoryLive = feed.Gauges("pnh_memory_live_bytes", "Bytes on the heap that the last collection left, without gaps.", Fold.Max);
        _memoryLimit = feed.Gauges("pnh_memory_limit_bytes", "Bytes that the heap may have.", Fold.Max);
        _memoryRefuses = feed.Gauges("pnh_memory_refuses", "1 while events of the class are refused because memory is short.", Fold.Max, "class");
        _ready = feed.Gauges("pnh_ready", "1 while the hub takes traffic, as /readyz says.", Fold.Max);
        _storeClosed = feed.Gauges("pnh_store_closed", "1 when a store closed itself after a disk fault: a restart opens it again.", Fold.Max, "store");
        feed.Gauges("pnh_q_factor", "Requests served per process CPU second over the last 60 s.").Add(() => _qFactor.Value);
        feed.Gauges("pnh_build_info", "1, with the version as a label.", Fold.Max, "version").Add(static () => 1, Version);

        _recentSync = new RecentQuantile(_journalSync);
        _recentFrame = new RecentQuantile(_acceptToFrame);
        _recentThreadPool = new RecentQuantile(_threadPoolDelay);
        Sample();
        _samples = SecondHand.Each(time, Sample);
    }

    /// <summary>The version that <c>pnh_build_info</c> names.</summary>
    public static string Version { get; } =
        typeof(HubMetrics).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";

    /// <summary>The books of planned deliveries.</summary>
    internal Ledger Ledger { get; }

    /// <summary>Counts the answer to one event of a publisher.</summary>
    public void EventCounted(string app, EventClass c, EventResult result) => _events.Count(app, c, result);

    /// <summary>Counts attempts of deliveries; of none nothing is counted.</summary>
    public void DeliveryCounted(string channel, EventClass c, DeliveryStatus status, long n = 1)
    {
        if (n > 0)
        {
            _channels.Get(channel).Count(c, status, n);
        }
    }

    /// <summary>Time from accepting an event to its frame in a session's queue.</summary>
    public void AcceptToFrame(EventClass c, TimeSpan t) => _acceptToFrame[(int)c].Record(t);

    /// <summary>Time from accepting an event to the provider's answer; with the event's trace, if it has one, it may become an exemplar.</summary>
    public void AcceptToProvider(string channel, EventClass c, TimeSpan t, string? traceParent = null) => _channels.Get(channel).AcceptToProvider(c, t, traceParent);

    /// <summary>Time from writing a frame to the client's ack.</summary>
    public void Acked(EventClass c, TimeSpan sinceFrame) => _ack[(int)c].Record(sinceFrame);

    /// <summary>Duration of one sync of the journal.</summary>
    public void JournalSynced(TimeSpan t) => _journalSync.Record(t);

    /// <summary>Deliveries left after their class's deadline, or not at all.</summary>
    public void DeadlineMissed(EventClass c, int count = 1) => _deadlineMissed.Add((int)c, count);

    /// <summary>Counts accepted events and completed deliveries for the Q-factor; nothing else.</summary>
    public void RequestServed(long n = 1) => _served.Add(0, n);

    /// <summary>Sessions in a state became more or fewer; a change of state is one call for each.</summary>
    public void SessionsChanged(SessionState state, int delta) => _sessions.Add((int)state, delta);

    /// <summary>How long a work item waited for a pool thread.</summary>
    public void ThreadPoolDelay(TimeSpan t) => _threadPoolDelay.Record(t);

    /// <summary>
    /// Exports the deliveries of these channels from now on, zeros too, and those of no channel at all. A series that is born with its first count has not
    /// increased, so an alert would miss the first burst.
    /// </summary>
    public void RegisterChannels(IEnumerable<string> channels)
    {
        foreach (var channel in channels.Append(ChannelNames.None))
        {
            _channels.Get(channel);
        }
    }

    /// <summary>
    /// Exports a queue until disposed. Queues with equal labels are one series: items are summed, of the ages the greatest counts. At most
    /// 100 label sets, the rest is <c>other</c>. The callbacks must be quick and may run on any thread.
    /// </summary>
    /// <param name="queue">A role (<c>ingest</c>, <c>apns</c>), never an address or an id.</param>
    /// <param name="c">Class that the queue serves.</param>
    /// <param name="items">Items waiting.</param>
    /// <param name="oldestAgeSeconds">Age of the oldest; 0 when empty.</param>
    public IDisposable RegisterQueue(string queue, EventClass c, Func<long> items, Func<double> oldestAgeSeconds) => new Registrations(
        _queueItems.Add(() => items(), queue, c.Label()), _queueAge.Add(oldestAgeSeconds, queue, c.Label()));

    /// <summary>Exports a provider's connections until disposed; registrations of one channel are summed.</summary>
    /// <param name="channel">Channel name.</param>
    /// <param name="connectionsByState">Connections in the state <c>cold</c>, <c>warm</c> or <c>draining</c>.</param>
    /// <param name="inFlight">Requests without an answer yet.</param>
    public IDisposable RegisterProvider(string channel, Func<string, long> connectionsByState, Func<long> inFlight) => new Registrations(
        [.. ProviderStates.Select(state => _providerConnections.Add(() => connectionsByState(state), channel, state)),
            _providerInFlight.Add(() => inFlight(), channel)]);

    /// <summary>Exports one more reading of a provider until disposed. Readings with equal labels are summed. The callback must be quick and may run on any thread.</summary>
    /// <param name="reading">What it is.</param>
    /// <param name="channel">Channel name.</param>
    /// <param name="label">Value of the reading's second label, from a small fixed set; ignored where it has none.</param>
    /// <param name="read">The value now.</param>
    public IDisposable RegisterProvider(ProviderReading reading, string channel, string label, Func<double> read) =>
        _providerReadings[(int)reading].Add(read, ProviderReadings.HasLabel(reading) ? [channel, label] : [channel]);

    /// <summary>
    /// Exports the sessions whose sockets this node holds, until disposed, in place of those that it decides about: in a cluster each session is exported by one node. The callbacks must be quick.
    /// </summary>
    public IDisposable RegisterHeldSessions(Func<long> active, Func<long> background)
    {
        _sessionsCounted.Dispose();
        return RegisterSessions(active, background);
    }

    private Registrations RegisterSessions(Func<long> active, Func<long> background) => new Registrations(
        _sessionsHeld.Add(() => active(), "active"), _sessionsHeld.Add(() => background(), "background"));

    /// <summary>Exports whether the hub takes traffic, and which of its stores closed themselves, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterReadiness(Func<bool> isReady, IEnumerable<(string Store, Func<bool> IsClosed)> stores) => new Registrations(
        [_ready.Add(() => isReady() ? 1 : 0), .. stores.Select(each => _storeClosed.Add(() => each.IsClosed() ? 1 : 0, each.Store))]);

    /// <summary>Shows how many events may be inside the hub at once.</summary>
    public IDisposable RegisterIntakeLimit(Func<int> events) => _intakeLimit.Add(() => events());

    /// <summary>Exports what of the heap is in use, and which classes are refused for it, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterMemory(Func<long> live, Func<long> limit, Func<EventClass, bool> refuses) => new Registrations(
        [_memoryLive.Add(() => live()), _memoryLimit.Add(() => limit()),
            .. EventClassNames.All.ToArray().Select(@class => _memoryRefuses.Add(() => refuses(@class) ? 1 : 0, @class.Label()))]);

    /// <summary>Exports how many sockets ended for which reason, until disposed. The callbacks must be quick.</summary>
    public IDisposable RegisterCloses(IEnumerable<(string Code, Func<long> Read)> closes) => new Registrations(
        [.. closes.Select(each => _socketCloses.Add(() => each.Read(), each.Code))]);

    /// <summary>Exports how many connections the direct transport serves, until disposed. The callback must be quick.</summary>
    public IDisposable RegisterConnections(Func<long> count) => _directConnections.Add(() => count());

    /// <summary>What this process has done, and what it took.</summary>
    public ProcessUse Use => new(_served.Read(0), Environment.CpuUsage.TotalTime, _qFactor.Cores, _qFactor.Value, Environment.WorkingSet);

    /// <summary>The counters now. Cheap enough for once a second; allocates.</summary>
    public HubTotals Snapshot()
    {
        lock (_sampling)
        {
            return new HubTotals
            {
                At = _time.GetUtcNow(),
                Events = _events.Read(),
                Deliveries = _channels.Read(),
                ActiveSessions = _sessions.Read((int)SessionState.Active),
                BackgroundSessions = _sessions.Read((int)SessionState.Background),
                Served = _served.Read(0),
                CpuSeconds = Environment.CpuUsage.TotalTime.TotalSeconds,
                QFactor = _qFactor.Value,
                DeadlinesMissed = EventClassNames.All.ToArray().Sum(c => _deadlineMissed.Read((int)c)),
                JournalSyncP99 = _recentSync.Read(0.99),
                AcceptToFrameP99 = _recentFrame.Read(0.99),
                ThreadPoolDelayP99 = _recentThreadPool.Read(0.99),
            };
        }
    }

    /// <summary>Stops the second hand; counters keep their values.</summary>
    public void Dispose() => _samples.Dispose();

    private static StripedDurations[] PerClass(Func<string[], StripedDurations> family)
    {
        var durations = new StripedDurations[EventClassNames.All.Length];
        foreach (var @class in EventClassNames.All)
        {
            durations[(int)@class] = family([@class.Label()]);
        }

        return durations;
    }

    private void Sample()
    {
        lock (_sampling)
        {
            _qFactor.Add(_time.GetElapsedTime(_started), _served.Read(0), Environment.CpuUsage.TotalTime);
            _recentSync.Sample();
            _recentFrame.Sample();
            _recentThreadPool.Sample();
        }
    }
}
