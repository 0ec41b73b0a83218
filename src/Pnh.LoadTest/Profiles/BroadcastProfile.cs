using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>All sessions in one topic, so many rounds a second; they acknowledge where the class wants it.</summary>
internal static class BroadcastProfile
{
    public static BenchResult Run(BenchRun run)
    {
        run.Add(run.Options.SessionsOr(2000), static _ => [0]);
        run.Open();
        return run.Measure(Rounds(run, run.Options.RateOr(20), run.Options.Class));
    }

    /// <summary>One event to the topic in each round.</summary>
    public static OpenLoad Rounds(BenchRun run, double rate, string @class)
    {
        var post = run.Peer.Post(toTopic: true, @class);
        return new OpenLoad(run.Loop, run.Publishers, rate, isEven: true, due => run.Publishers.Post(post, MessageLedger.FirstTopic, due));
    }
}
