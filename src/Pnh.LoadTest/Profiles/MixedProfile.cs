using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Calls to single users while a transient broadcast takes 70 % of the server's core: what a call waits for. The figures are the calls'.</summary>
internal static class MixedProfile
{
    private const double Share = 0.7;
    private const double Tolerance = 0.04;
    private const int MostTrials = 8;
    private const int MostRuns = 6;
    private const double CallsPerSecond = 50;

    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(2000);
        run.Add(users, static _ => [0]);
        run.Open();

        // What a round costs falls with their number, so the rate is found by trying.
        var (rate, share) = (5.0, 0.0);
        for (var i = 0; i < MostTrials && !IsWanted(share); i++)
        {
            rate = Next(rate, share);
            share = ShareOf(run.MeasureWarm(BroadcastProfile.Rounds(run, rate, "transient"), run.Options.Warm));
        }

        // A host that is slower or quicker than in the trials makes another share of the same rate: measured again then, with another rate.
        var result = Measure(run, rate);
        for (var i = 1; i < MostRuns && result.IsClean && result.Latency is null && result.ServerCpu is not null; i++)
        {
            rate = Next(rate, ShareOf(result));
            result = Measure(run, rate);
        }

        return result;
    }

    /// <summary>Both loads as one result. A call that was refused, broke or was lost waited longer than any that arrived, and outside the share another question was asked: no figure then.</summary>
    public static BenchResult Join(BenchResult broadcast, BenchResult called)
    {
        var faults = CallFaults(called).ToList();
        var result = broadcast with
        {
            Class = called.Class,
            Refused = broadcast.Refused + called.Refused,
            Broken = broadcast.Broken + called.Broken,
            LastStatus = called.Broken > 0 ? called.LastStatus : broadcast.LastStatus,
            Latency = faults.Count == 0 && IsWanted(ShareOf(broadcast)) ? called.Latency : null,
            Answer = called.Answer,
            Lateness = called.Lateness,
            Wrong = Sum(broadcast.Wrong!, called.Wrong!),
            Dropped = broadcast.Dropped + called.Dropped,
            Faults = faults,
        };
        result.Extra[Bar.ShareOfCore] = 100 * ShareOf(broadcast);
        result.Extra["calls"] = called.Events;
        return result;
    }

    private static BenchResult Measure(BenchRun run, double rate)
    {
        using var calls = new CallsAside(CallsPerSecond, run.Options.Seconds);
        var broadcast = run.MeasureWarm(BroadcastProfile.Rounds(run, rate, "transient"), CallsAside.Needs(run.Options.Seconds));
        var result = Join(broadcast, calls.Read());
        result.Extra["rounds/s"] = rate;
        result.Extra["broadcast p99, ms"] = run.Arrivals.ToTopics.At(0.99);
        result.Extra["calls ahead in the scheduler"] = calls.IsAhead ? 1 : 0;
        return result;
    }

    // The class's own promise: of calls none is refused, whatever else is.
    private static IEnumerable<string> CallFaults(BenchResult called)
    {
        if (called.Refused + called.Broken + called.Wrong!.Lost > 0)
        {
            yield return FormattableString.Invariant($"calls: {called.Refused} refused, {called.Broken} broken, {called.Wrong!.Lost} lost");
        }

        if (called.Deliveries == 0)
        {
            yield return "no call arrived";
        }
    }

    private static double Next(double rate, double share) => Math.Clamp(rate * (share > 0 ? Math.Clamp(Share / share, 0.5, 3) : 1), 1, 200);

    private static bool IsWanted(double share) => Math.Abs(share - Share) <= Tolerance;

    // Of one core; 1 when the server's process is not known, so that no figure comes of it.
    private static double ShareOf(BenchResult result) => (result.ServerCpu ?? result.Seconds) / result.Seconds;

    private static Wrong Sum(Wrong one, Wrong other) => new(
        one.Expected + other.Expected, one.Lost + other.Lost, one.Duplicate + other.Duplicate, one.Reordered + other.Reordered, one.Late + other.Late,
        one.Misrouted + other.Misrouted, one.Unwanted + other.Unwanted, one.Mismatched + other.Mismatched);
}
