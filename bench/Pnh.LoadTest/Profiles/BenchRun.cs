using System.Diagnostics;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Peers;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Profiles;

/// <summary>What every profile works with: one loop, the sessions and publishers on it, the books, and the process under test.</summary>
internal sealed class BenchRun : IDisposable
{
    private readonly Lazy<Publishers> _publishers;
    private Progress? _progress;

    public BenchRun(BenchOptions options)
    {
        Options = options;
        Server = new ServerProcess(options.Server);
        Arrivals = new Arrivals(options.Break, options.LateAfter);
        Fleet = new Fleet(options, Loop, Arrivals);
        Peer = options.Peer switch
        {
            "pnh" => new PnhPeer(options),
            "signalr" => new SignalRPeer(options),
            _ => new ChannelPeer(options),
        };
        _publishers = new Lazy<Publishers>(() => new Publishers(options, Loop, Ledger));
    }

    public BenchOptions Options { get; }

    public Loop Loop { get; } = new();

    public Ledger Ledger { get; } = new();

    public Arrivals Arrivals { get; }

    public Fleet Fleet { get; }

    public Peer Peer { get; }

    public ServerProcess Server { get; }

    /// <summary>Made when first asked for.</summary>
    public Publishers Publishers => _publishers.Value;

    /// <summary>A session of a user that is in these topics (numbers from 0); opened by <see cref="Open"/>. A hub that knows users delivers theirs too.</summary>
    public Session Add(int user, params int[] topics)
    {
        int[] streams = [user, .. topics.Select(static topic => Ledger.FirstTopic + topic)];
        foreach (var stream in streams)
        {
            Ledger.AddRecipient(stream);
        }

        var session = new Session(Fleet, Peer, user, [.. streams.Select(static stream => new StreamCheck(stream, 0))]);
        Fleet.Sessions.Add(session);
        return session;
    }

    /// <summary>So many users, each with one session in the topics that it is asked for.</summary>
    public void Add(int users, Func<int, int[]> topics)
    {
        for (var user = 0; user < users; user++)
        {
            Add(user, topics(user));
        }
    }

    /// <summary>Opens all of them.</summary>
    public void Open()
    {
        _progress ??= new Progress(this);
        Fleet.Open(Fleet.Sessions);
    }

    /// <summary>The load for as long as it warms, then measured from quiet to quiet.</summary>
    public BenchResult Measure(ILoad load)
    {
        _progress ??= new Progress(this);
        load.Start();
        Loop.Run(Options.Warm);
        load.Stop();
        Quiet(load);
        return MeasureWarm(load, Options.Seconds);
    }

    /// <summary>The load, measured from quiet to quiet.</summary>
    /// <param name="load">What is done.</param>
    /// <param name="seconds">For how long.</param>
    /// <param name="then">Done after that, before it must become quiet.</param>
    public BenchResult MeasureWarm(ILoad load, double seconds, Action? then = null)
    {
        Restart();
        var before = HubMetrics.Read(Options.Host, Options.OperationsPort);
        var (cpu, own, from) = (Server.CpuSeconds, Environment.CpuUsage.TotalTime, Stopwatch.GetTimestamp());
        load.Start();
        Loop.Run(seconds);
        load.Stop();
        then?.Invoke();
        var last = Quiet(load);
        var result = Result(
            Server.CpuSeconds - cpu, (Environment.CpuUsage.TotalTime - own).TotalSeconds, Stopwatch.GetElapsedTime(from, last).TotalSeconds, (load as OpenLoad)?.Lateness);
        var after = HubMetrics.Read(Options.Host, Options.OperationsPort);
        return before is null || after is null ? result : result with { Q = Finite(Served(before, after)) };
    }

    /// <summary>Everything that was counted belongs to the past.</summary>
    public void Restart()
    {
        Arrivals.Restart();
        Publishers.Restart();
        Ledger.Restart();
        foreach (var check in Fleet.Sessions.SelectMany(static session => session.Streams))
        {
            check.Restart(Ledger.Last(check.Stream));
        }
    }

    public void Dispose() => Loop.Dispose();

    /// <summary>Null for what is not a number.</summary>
    public static double? Finite(double value) => double.IsFinite(value) ? value : null;

    // Until everything that was accepted has arrived, or nothing came for two seconds. Gives when the last one was there.
    private long Quiet(ILoad load)
    {
        var (seen, since) = (-1L, Stopwatch.GetTimestamp());
        Loop.Run(30, () =>
        {
            if (Arrivals.Count + Publishers.Accepted != seen)
            {
                seen = Arrivals.Count + Publishers.Accepted;
                since = Stopwatch.GetTimestamp();
            }

            return (load.IsQuiet && Arrivals.Count >= Ledger.Expected) || Stopwatch.GetElapsedTime(since).TotalSeconds > 2;
        });
        return since;
    }

    private static double Served(HubMetrics before, HubMetrics after) =>
        (after.Sum("pnh_requests_served_total") - before.Sum("pnh_requests_served_total"))
        / (after.Sum("process_cpu_seconds_total") - before.Sum("process_cpu_seconds_total"));

    private BenchResult Result(double cpu, double own, double seconds, Histogram? lateness)
    {
        var (events, deliveries) = (Publishers.Accepted, Arrivals.Count);
        return new BenchResult
        {
            Profile = Options.Profile,
            Peer = Options.Peer,
            Label = Options.Label,
            Class = Options.Class,
            Sessions = Fleet.Sessions.Count,
            Publishers = Publishers.Count,
            Size = Options.Size,
            Seconds = seconds,
            ServerCpu = Finite(cpu),
            GeneratorCpu = own,
            Events = events,
            Refused = Publishers.Refused,
            Broken = Publishers.Broken,
            Deliveries = deliveries,
            EventsPerSecond = Finite(events / seconds),
            EventsPerCpuSecond = Finite(events / cpu),
            DeliveriesPerCpuSecond = Finite(deliveries / cpu),
            CpuMicrosecondsPerDelivery = Finite(1e6 * cpu / deliveries),
            CpuMicrosecondsPerEvent = Finite(1e6 * cpu / events),
            Q = Finite((events + deliveries) / cpu),
            Latency = Times.Of(Arrivals.Latency),
            Answer = Times.Of(Publishers.Answers),
            Lateness = lateness is null ? null : Times.Of(lateness),
            Wrong = new Wrong(
                Ledger.Expected, Fleet.Sessions.SelectMany(static session => session.Streams).Sum(Ledger.Lost), Arrivals.Duplicates, Arrivals.Reordered, Arrivals.Late, Arrivals.Misrouted),
            Dropped = Fleet.Dropped,
        };
    }
}
