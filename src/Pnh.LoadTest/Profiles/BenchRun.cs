using System.Diagnostics;
using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Profiles;

/// <summary>What every profile works with: one loop, the sessions and publishers on it, the books, and the process under test.</summary>
internal sealed class BenchRun : IDisposable
{
    // What answers its metrics page is compiled again once it has run 30 times: some 250 ms, which would fall into what is measured.
    private const int WarmPages = 3;

    private readonly Lazy<Publishers> _publishers;
    private readonly Shares _shares = new();
    private Progress? _progress;
    private IReadOnlyList<ShareReport> _reports = [];
    private int _added;

    public BenchRun(BenchOptions options)
    {
        Options = options;
        Server = new ServerProcess(options.Servers);
        Loop = new Loop(options.Poll);
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

    public Loop Loop { get; }

    public MessageLedger Ledger { get; } = new();

    public Arrivals Arrivals { get; }

    public Fleet Fleet { get; }

    public Peer Peer { get; }

    public ServerProcess Server { get; }

    /// <summary>Made when first asked for.</summary>
    public Publishers Publishers => _publishers.Value;

    /// <summary>What the sessions of this process missed.</summary>
    public long Lost => Fleet.Sessions.SelectMany(static session => session.Streams).Sum(Ledger.Lost);

    /// <summary>What they got although it was refused.</summary>
    public long Unwanted => Fleet.Sessions.SelectMany(static session => session.Streams).Sum(Ledger.Unwanted);

    /// <summary>A session of a user that is in these topics (numbers from 0); opened by <see cref="Open"/>. A hub that knows users delivers theirs too.</summary>
    public void Add(int user, params int[] topics)
    {
        int[] streams = [user, .. topics.Select(static topic => MessageLedger.FirstTopic + topic)];
        foreach (var stream in streams)
        {
            Ledger.AddRecipient(stream);
        }

        if (_added++ / Options.PerProcess == Options.Share)
        {
            Fleet.Sessions.Add(new ClientSession(Fleet, Peer, user, [.. streams.Select(static stream => new StreamCheck(stream, 0))]));
        }
    }

    /// <summary>So many users, each with one session in the topics that it is asked for.</summary>
    public void Add(int users, Func<int, int[]> topics)
    {
        for (var user = 0; user < users; user++)
        {
            Add(user, topics(user));
        }
    }

    /// <summary>Sessions that are closed and opened by the profile itself must be this process's own.</summary>
    public void RequireOneProcess(int sessions)
    {
        if (sessions > Options.PerProcess)
        {
            throw new ArgumentException(FormattableString.Invariant($"{Options.Profile} takes at most {Options.PerProcess} sessions"));
        }
    }

    /// <summary>Opens all of them. In a process that only holds a share of them this is the end of the profile.</summary>
    public void Open()
    {
        Fleet.Open(Fleet.Sessions);
        if (Options.Share > 0)
        {
            ShareSide.Serve(this);
            Environment.Exit(0);
        }

        _progress ??= new Progress(this);
        _shares.Open((_added - 1) / Options.PerProcess, Options.Run);
    }

    /// <summary>The load for as long as it warms, then measured from quiet to quiet.</summary>
    public BenchResult Measure(ILoad load)
    {
        _progress ??= new Progress(this);
        for (var page = 0; page < WarmPages; page++)
        {
            _ = ScrapedMetrics.Read(Options.Host, Options.OperationsPort);
        }

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
        var others = _shares.Report(Ledger).Sum(static report => report.CpuSeconds);
        _shares.Restart();
        Restart();
        var before = ScrapedMetrics.Read(Options.Host, Options.OperationsPort);
        var (cpu, own, from) = (Server.CpuSeconds, Environment.CpuUsage.TotalTime, Stopwatch.GetTimestamp());
        load.Start();
        Loop.Run(seconds);
        load.Stop();
        then?.Invoke();
        var last = Quiet(load);
        cpu = Server.CpuSeconds - cpu;
        _reports = _shares.Report(Ledger);
        foreach (var report in _reports)
        {
            Arrivals.Add(report);
        }

        var result = Result(
            cpu, (Environment.CpuUsage.TotalTime - own).TotalSeconds + _reports.Sum(static report => report.CpuSeconds) - others, Stopwatch.GetElapsedTime(from, last).TotalSeconds, (load as OpenLoad)?.Lateness);
        var after = ScrapedMetrics.Read(Options.Host, Options.OperationsPort);
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

    public void Dispose()
    {
        _shares.Dispose();
        Loop.Dispose();
    }

    /// <summary>Null for what is not a number.</summary>
    public static double? Finite(double value) => double.IsFinite(value) ? value : null;

    // Until everything that was accepted has arrived, or nothing came for three seconds. Gives when the last one was there.
    private long Quiet(ILoad load)
    {
        var (seen, since) = (-1L, Stopwatch.GetTimestamp());
        Loop.Run(300, () =>
        {
            var arrived = Arrivals.Count + _shares.Count();
            if (arrived + Publishers.Accepted != seen)
            {
                seen = arrived + Publishers.Accepted;
                since = Stopwatch.GetTimestamp();
            }

            return (load.IsQuiet && arrived >= Ledger.Expected) || Stopwatch.GetElapsedTime(since).TotalSeconds > 3;
        });
        return since;
    }

    private static double Served(ScrapedMetrics before, ScrapedMetrics after) =>
        (after.Sum("pnh_requests_served_total") - before.Sum("pnh_requests_served_total"))
        / (after.Sum("process_cpu_seconds_total") - before.Sum("process_cpu_seconds_total"));

    private BenchResult Result(double cpu, double own, double seconds, LatencyHistogram? lateness)
    {
        var (events, deliveries) = (Publishers.Accepted, Arrivals.Count);
        return new BenchResult
        {
            Profile = Options.Profile,
            Peer = Options.Peer,
            Label = Options.Label,
            Class = Options.Class,
            Sessions = _added,
            Publishers = Publishers.Count,
            Size = Options.Size,
            Seconds = seconds,
            ServerCpu = Finite(cpu),
            GeneratorCpu = own,
            Events = events,
            Refused = Publishers.Refused,
            Broken = Publishers.Broken,
            LastStatus = Publishers.LastStatus,
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
                Ledger.Expected, Lost + _reports.Sum(static report => report.Lost), Arrivals.Duplicates, Arrivals.Reordered, Arrivals.Late, Arrivals.Misrouted,
                Unwanted + _reports.Sum(static report => report.Unwanted), Arrivals.Mismatched + Publishers.Mismatched),
            Dropped = Fleet.Dropped + _reports.Sum(static report => report.Dropped),
        };
    }
}
