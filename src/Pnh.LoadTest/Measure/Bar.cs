namespace Pnh.LoadTest.Measure;

/// <summary>One line of the comparison.</summary>
/// <param name="Work">What is done, in words.</param>
/// <param name="Label">Of PNH's runs.</param>
/// <param name="Reference">Label of the peer's runs that the limits multiply; null = the limits are absolute.</param>
/// <param name="Unit">Of the figure.</param>
/// <param name="Figure">Takes it out of a run of PNH.</param>
/// <param name="OfPeer">Takes it out of a run of a peer.</param>
/// <param name="IsMoreBetter">Whether the limits are least or most.</param>
/// <param name="First">What must hold; NaN = only the aim is said.</param>
/// <param name="Aim">What should.</param>
/// <param name="AimOfC">The same beside the C loop; null = none.</param>
/// <param name="Condition">Name of the extra, in percent, under which the figure was taken; it stands behind it. Null = none.</param>
internal sealed record Bar(
    string Work,
    string Label,
    string? Reference,
    string Unit,
    Func<BenchResult, double?> Figure,
    Func<BenchResult, double?> OfPeer,
    bool IsMoreBetter,
    double First,
    double Aim,
    double? AimOfC = null,
    string? Condition = null)
{
    /// <summary>What the server took of its core while calls were measured, in percent.</summary>
    public const string ShareOfCore = "share of a core, %";

    /// <summary>All of them.</summary>
    public static IReadOnlyList<Bar> All { get; } =
    [
        Of("broadcast, transient, 2,000 sessions, 20 rounds/s", "broadcast:pnh", "broadcast:nchan", Deliveries, Deliveries, 1.0, 1.4, 0.9),
        Of("the same as `message`, durable, every session acks", "broadcast-acked:pnh", "broadcast:nchan", Deliveries, Deliveries, 0.35, 0.7),
        Of("broadcast to 2,000 sessions of members, transient", "members:pnh", "broadcast:nchan", Deliveries, Deliveries, 0.95, 1.4, 0.9),
        Of("broadcast to 2,000 sessions of members as `message`, every session acks", "members-acked:pnh", "broadcast:nchan", Deliveries, Deliveries, 0.25, 0.7),
        Of("one POST to one session, transient", "one:pnh", "one:nchan", Events, Events, 0.85, 1.5),
        Of("one POST to one session, `message`, durable, acked", "one-acked:pnh", "one:nchan", Events, Events, 0.4, 0.8),
        Of("NDJSON to one session each, transient; peers: single POSTs", "ndjson:pnh", "one:nchan", Events, Events, 1.5, 2.2),
        Least("memory of an idle session, kB (15,000, after a collection)", "idle:pnh", null, "kB", "kilobytesPerSession", 6, 2.5),
        Least("CPU to accept 10,000 (PNH: with JWT, hello, welcome)", "idle:pnh", "idle:nchan", "CPU s", "acceptCpuPer10000", 6, 2),
        Least("all sessions reset at once: CPU of their ends", "idle:pnh", "idle:nchan", "CPU s", "resetCpu", 5, 1),
        Least("15,000 sessions, then SIGTERM: CPU until the process is gone", "stop:pnh", null, "CPU s", "stopCpu", 2, 1),
        Of("6,000 topics of 3, 4,000 transient events/s", "groups:pnh", "groups:nchan", Deliveries, Deliveries, 1.0, 2.0),
        Of("the same; reference: nchan's single POST, its core full", "groups:pnh", "groups-one:nchan", Deliveries, Deliveries, 1.0, 2.0),
        new("call p99 while a broadcast takes 70 % of a core, ms", "mixed:pnh", null, "ms", static run => run.Latency?.P99, Nothing, false, 10, 3, Condition: ShareOfCore),
        new("chat room, 1,000 users in 10 rooms: lost, duplicate, reordered", "chat:pnh", null, "wrong", Errors, Nothing, false, 0, 0),
        new("chat room: average latency, ms", "chat:pnh", null, "ms", static run => run.Latency?.Mean, Nothing, false, 5, 5),
        new("chat room, 10,000 users in 100 rooms: lost, duplicate, reordered", "chat-10000:pnh", null, "wrong", Errors, Nothing, false, double.NaN, 0),
        new("the same: average latency, ms", "chat-10000:pnh", null, "ms", static run => run.Latency?.Mean, Nothing, false, double.NaN, 5),
        new("2 x 1,000 every 3 s, transient: lost, duplicate, reordered", "chat-broadcast-transient:pnh", null, "wrong", Errors, Nothing, false, 0, 0),
        new("2 x 1,000 every 3 s, transient: average latency, ms", "chat-broadcast-transient:pnh", null, "ms", static run => run.Latency?.Mean, Nothing, false, 5, 5),
        new("2 x 1,000 every 3 s as `message`, every session acks: lost, duplicate, reordered", "chat-broadcast:pnh", null, "wrong", Errors, Nothing, false, 0, 0),
        new("2 x 1,000 every 3 s as `message`: average latency, ms", "chat-broadcast:pnh", null, "ms", static run => run.Latency?.Mean, Nothing, false, 5, 5),
    ];

    private static Bar Of(string work, string label, string reference, Func<BenchResult, double?> figure, Func<BenchResult, double?> ofPeer, double first, double aim, double? aimOfC = null) =>
        new(work, label, reference, "per CPU s", figure, ofPeer, true, first, aim, aimOfC);

    private static Bar Least(string work, string label, string? reference, string unit, string extra, double first, double aim)
    {
        double? Figure(BenchResult run) => run.Extra.TryGetValue(extra, out var value) ? value : null;
        return new(work, label, reference, unit, Figure, Figure, false, first, aim);
    }

    private static double? Deliveries(BenchResult run) => run.DeliveriesPerCpuSecond;

    private static double? Events(BenchResult run) => run.EventsPerCpuSecond;

    private static double? Errors(BenchResult run) => run.Wrong?.Count;

    private static double? Nothing(BenchResult run) => null;
}
