using System.Diagnostics;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>What the server's end costs it while sessions are open: CPU from SIGTERM until its process is gone. The clients answer its close frames. It must run on this machine.</summary>
internal static class StopProfile
{
    // Of the processes that start servers here none waits longer.
    private const double PatienceSeconds = 60;

    public static BenchResult Run(BenchRun run)
    {
        if (run.Server.Processes.Count == 0)
        {
            throw new ArgumentException("--server is missing: the process to stop");
        }

        var count = run.Options.SessionsOr(15_000);
        run.RequireOneProcess(count);
        run.Add(count, static user => [user / 3]);
        run.Fleet.Open(run.Fleet.Sessions);
        run.Loop.Run(3); // what opening them left to do is done

        var before = run.Server.CpuSeconds;
        var (last, hasEnded, from) = (before, false, Stopwatch.GetTimestamp());
        run.Server.Terminate();
        run.Loop.Run(PatienceSeconds, () =>
        {
            last = run.Server.CpuSecondsUnlessGone(out hasEnded) ?? last;
            return hasEnded;
        });
        if (!hasEnded)
        {
            throw new InvalidOperationException(FormattableString.Invariant($"the server did not end within {PatienceSeconds} s"));
        }

        return new BenchResult
        {
            Profile = run.Options.Profile,
            Peer = run.Options.Peer,
            Label = run.Options.Label,
            Class = "none",
            Sessions = count,
            Dropped = run.Fleet.Dropped - count,
            Extra = new(StringComparer.Ordinal)
            {
                ["stopCpu"] = last - before,
                ["stopSeconds"] = Stopwatch.GetElapsedTime(from).TotalSeconds,
                ["lastCloseCode"] = run.Fleet.LastCloseCode,
            },
        };
    }
}
