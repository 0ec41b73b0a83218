using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Calls to single users while a transient broadcast takes 70 % of the server's core: what a call waits for. The figures are the calls'.</summary>
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

        using var calls = new CallsAside(CallsPerSecond, run.Options.Seconds);
        var broadcast = run.MeasureWarm(BroadcastProfile.Rounds(run, rate, "transient"), CallsAside.Needs(run.Options.Seconds));
        var called = calls.Read();
        var result = broadcast with { Class = called.Class, Latency = called.Latency, Answer = called.Answer, Lateness = called.Lateness, Wrong = Sum(broadcast.Wrong!, called.Wrong!), Dropped = broadcast.Dropped + called.Dropped };
        result.Extra["rounds/s"] = rate;
        result.Extra["share of a core, %"] = 100 * (result.ServerCpu ?? 0) / result.Seconds;
        result.Extra["broadcast p99, ms"] = run.Arrivals.ToTopics.At(0.99);
        result.Extra["calls"] = called.Events;
        result.Extra["calls ahead in the scheduler"] = calls.IsAhead ? 1 : 0;
        return result;
    }

    private static Wrong Sum(Wrong one, Wrong other) => new(
        one.Expected + other.Expected, one.Lost + other.Lost, one.Duplicate + other.Duplicate, one.Reordered + other.Reordered, one.Late + other.Late,
        one.Misrouted + other.Misrouted, one.Unwanted + other.Unwanted);
}
