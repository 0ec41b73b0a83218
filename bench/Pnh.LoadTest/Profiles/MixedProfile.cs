using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Calls to single users while a transient broadcast takes 70 % of the server's core: what a call waits for.</summary>
internal static class MixedProfile
{
    private const double Share = 0.7;
    private const double Tolerance = 0.04;
    private const int MostTrials = 8;
    private const double CallsPerSecond = 50;

    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(2000);
        run.Add(users, static _ => [0]);
        run.Open();

        // What a round costs falls with their number, so the rate is found by trying.
        var (rate, share) = (5.0, 0.0);
        for (var i = 0; i < MostTrials && Math.Abs(share - Share) > Tolerance; i++)
        {
            rate = Math.Clamp(rate * (share > 0 ? Math.Clamp(Share / share, 0.5, 3) : 1), 1, 200);
            var trial = run.MeasureWarm(BroadcastProfile.Rounds(run, rate, "transient"), run.Options.Warm);
            share = (trial.ServerCpu ?? trial.Seconds) / trial.Seconds;
        }

        var result = run.MeasureWarm(new Both(BroadcastProfile.Rounds(run, rate, "transient"), OneProfile.Load(run, users, CallsPerSecond)), run.Options.Seconds);
        result.Extra["rounds/s"] = rate;
        result.Extra["share of a core, %"] = 100 * (result.ServerCpu ?? 0) / result.Seconds;
        result.Extra["broadcast p99, ms"] = run.Arrivals.ToTopics.At(0.99);
        result.Extra["calls"] = run.Arrivals.ToUsers.Count;
        return result;
    }

    private sealed class Both(ILoad one, ILoad other) : ILoad
    {
        public bool IsQuiet => one.IsQuiet && other.IsQuiet;

        public void Start()
        {
            one.Start();
            other.Start();
        }

        public void Stop()
        {
            one.Stop();
            other.Stop();
        }
    }
}
