using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>POSTs to a topic in which no session is, beside many sessions of the same app: one that nobody knows, or one of 300 members who are not here.</summary>
internal static class SilentProfile
{
    private const int Members = 300;

    public static BenchResult Run(BenchRun run)
    {
        var sessions = run.Options.SessionsOr(8000);
        run.Add(sessions, static _ => []);
        MemberImport.FillFirstTopic(run, sessions, Members);
        run.Open();
        var post = run.Peer.Post(toTopic: true, run.Options.Class);
        return run.Measure(new ClosedLoad(run.Publishers, _ => (post, MessageLedger.FirstTopic)));
    }
}
