using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Many small topics: three sessions in each, events to random ones.</summary>
internal static class GroupsProfile
{
    private const int GroupSize = 3;

    public static BenchResult Run(BenchRun run)
    {
        var sessions = run.Options.SessionsOr(18_000);
        run.Add(sessions, static user => [user / GroupSize]);
        run.Open();
        var post = run.Peer.Post(toTopic: true, run.Options.Class);
        var random = new Random(20_261_121);
        return run.Measure(new OpenLoad(
            run.Loop,
            run.Publishers,
            run.Options.RateOr(4000),
            isEven: false,
            due => run.Publishers.Post(post, MessageLedger.FirstTopic + random.Next(sessions / GroupSize), due)));
    }
}
