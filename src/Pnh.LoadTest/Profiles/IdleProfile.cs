using System.Diagnostics;
using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>
/// What sessions cost that do nothing but be in a topic of three, which they joined or whose members their users are: memory of each, CPU to accept them,
/// CPU from resetting all of them at once: that of the end of the connections, and that of the end of the sessions that lingered, less what the server takes idle in the second
/// or two of both. What it takes in between is no part of that: <c>lingerCpuPercent</c> shows it beside <c>idleCpuPercent</c>. Memory is that of the first round; the rest are medians.
/// </summary>
internal static class IdleProfile
{
    private const int WarmSessions = 1500;
    private const double IdleSeconds = 3;

    // Of a burst of a fifth of a second, so that what an idle server takes is no part of it.
    private const double BurstStep = 0.02;

    // PNH looks for lingers that are over once a second.
    private const double LingerStep = 1.1;

    // A reset of 15,000 takes a sixth of a second: a collection, or the compiler, in one round moves its figure, and not the median.
    private const int Rounds = 5;

    public static BenchResult Run(BenchRun run)
    {
        var count = run.Options.SessionsOr(15_000);
        run.RequireOneProcess(count + WarmSessions);
        run.Add(count + WarmSessions, static user => [user / 3]);
        if (run.Options.IsMembers)
        {
            MemberImport.Run(run.Options, Enumerable.Range(0, count + WarmSessions).Select(user => (run.Peer.NameOf(MessageLedger.FirstTopic + (user / 3)), run.Peer.NameOf(user))));
        }

        var sessions = run.Fleet.Sessions;
        Warm(run, sessions[count..]);
        sessions.RemoveRange(count, WarmSessions);

        var idle = Idle(run);
        var memory = Memory(run);
        var rounds = new List<Dictionary<string, double>>();
        for (var round = 0; round < Rounds; round++)
        {
            var measured = new Dictionary<string, double>(StringComparer.Ordinal);
            Accept(run, idle, measured);
            if (round == 0)
            {
                measured["kilobytesPerSession"] = (Memory(run) - memory) / count / 1024;
                measured["idleCpuPercent"] = 100 * Idle(run);
            }

            Reset(run, idle, measured);
            rounds.Add(measured);
        }

        return Result(run, Medians(rounds));
    }

    private static void Accept(BenchRun run, double idle, Dictionary<string, double> measured)
    {
        var sessions = run.Fleet.Sessions;
        var from = Stopwatch.GetTimestamp();
        var cpu = run.Server.CpuSeconds;
        run.Fleet.Open(sessions);
        Settle(run, idle);
        var (accept, took) = (run.Server.CpuSeconds - cpu, Stopwatch.GetElapsedTime(from).TotalSeconds);
        measured["acceptCpuPer10000"] = (accept - (idle * took)) * 10_000 / sessions.Count;
        measured["acceptSeconds"] = took;
    }

    private static Dictionary<string, double> Medians(List<Dictionary<string, double>> rounds) => rounds.SelectMany(static round => round)
        .GroupBy(static figure => figure.Key, StringComparer.Ordinal)
        .ToDictionary(static figure => figure.Key, static figure => figure.Select(static each => each.Value).Order().ElementAt(figure.Count() / 2), StringComparer.Ordinal);

    // Compiled and allocated once is not per session.
    private static void Warm(BenchRun run, List<ClientSession> sessions)
    {
        run.Fleet.Open(sessions);
        sessions.ForEach(static session => session.Close(reset: true));
        run.Loop.Run(run.Options.Linger + 1);
        Settle(run);
    }

    // Two bursts. What an idle server takes in the whole time would be a third of them, and is another in each second.
    private static void Reset(BenchRun run, double idle, Dictionary<string, double> measured)
    {
        var from = Stopwatch.GetTimestamp();
        var cpu = run.Server.CpuSeconds;
        run.Fleet.Sessions.ForEach(static session => session.Close(reset: true));
        SettleSoon(run, idle);
        var detached = run.Server.CpuSeconds - cpu;
        var took = Stopwatch.GetElapsedTime(from).TotalSeconds;

        run.Loop.Run(Math.Max(0, run.Options.Linger - BurstStep - took));
        var lingered = Stopwatch.GetTimestamp();
        measured["lingerCpuPercent"] = 100 * (run.Server.CpuSeconds - cpu - detached) / Math.Max(BurstStep, Stopwatch.GetElapsedTime(from, lingered).TotalSeconds - took);
        cpu = run.Server.CpuSeconds;
        run.Loop.Run(LingerStep + took);
        SettleSoon(run, idle);
        var ended = run.Server.CpuSeconds - cpu;
        took += Stopwatch.GetElapsedTime(lingered).TotalSeconds;

        measured["resetSeconds"] = took;
        measured["resetCpuUntilDetached"] = detached;
        measured["resetCpuOfLingers"] = ended;
        if (detached + ended - (idle * took) is > 0 and var work)
        {
            measured["resetCpu"] = work; // less than nothing is no figure
        }

        measured["sessionsLeft"] = ScrapedMetrics.Read(run.Options.Host, run.Options.OperationsPort)?.Sum("pnh_sessions") ?? 0;
    }

    // For the end of a burst: until it is quiet for a tenth of a second.
    private static void SettleSoon(BenchRun run, double idle) => Settle(run, idle, BurstStep, steps: 5);

    // Until the server takes no more than 5 % of a core above what it takes idle, in so many steps of so many seconds one after the other; a minute at most.
    private static void Settle(BenchRun run, double idle = 0.05, double step = 0.5, int steps = 1)
    {
        var quiet = 0;
        for (var i = 0; i < 60 / step && quiet < steps; i++)
        {
            var cpu = run.Server.CpuSeconds;
            run.Loop.Run(step);
            quiet = run.Server.CpuSeconds - cpu <= step * (idle + 0.05) ? quiet + 1 : 0;
        }
    }

    // CPU seconds per second.
    private static double Idle(BenchRun run)
    {
        var cpu = run.Server.CpuSeconds;
        run.Loop.Run(IdleSeconds);
        return (run.Server.CpuSeconds - cpu) / IdleSeconds;
    }

    // Twice, with time in between: what the first collection finds free, a later step gives back.
    private static double Memory(BenchRun run)
    {
        for (var i = 0; i < 2; i++)
        {
            foreach (var process in run.Server.Processes)
            {
                _ = CollectionRequest.Send(process);
            }

            run.Loop.Run(1);
        }

        return run.Server.ResidentBytes;
    }

    private static BenchResult Result(BenchRun run, Dictionary<string, double> extra) => new()
    {
        Profile = run.Options.Profile,
        Peer = run.Options.Peer,
        Label = run.Options.Label,
        Class = "none",
        Sessions = run.Fleet.Sessions.Count,
        Dropped = run.Fleet.Dropped,
        Extra = extra,
    };
}
