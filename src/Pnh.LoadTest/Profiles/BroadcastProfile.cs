using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>All sessions in one topic, which they joined or whose members their users are, so many rounds a second; they acknowledge where the class wants it.</summary>
internal static class BroadcastProfile
{
    public static BenchResult Run(BenchRun run)
    {
        var sessions = run.Options.SessionsOr(2000);
        run.Add(sessions, static _ => [0]);
        MemberImport.FillFirstTopic(run, 0, sessions);
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
