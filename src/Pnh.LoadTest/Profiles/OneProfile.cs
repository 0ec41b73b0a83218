using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>One POST, one session: keep-alive publishers, each with users of its own, as fast as answers come or at a rate.</summary>
internal static class OneProfile
{
    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(500);
        run.Add(users, static _ => []);
        run.Open();
        return run.Measure(Load(run, users, run.Options.RateOr(0)));
    }

    /// <summary>Events to random users; rate 0 = closed loop.</summary>
    public static ILoad Load(BenchRun run, int users, double rate)
    {
        var post = run.Peer.Post(toTopic: false, run.Options.Class);
        var random = new Random(20_261_121);
        var publishers = run.Publishers.Count;
        if (users < publishers)
        {
            throw new ArgumentException("fewer sessions than publishers: their order could not be known");
        }

        return rate > 0
            ? new OpenLoad(run.Loop, run.Publishers, rate, isEven: false, due => run.Publishers.Post(post, random.Next(users), due))
            : new ClosedLoad(run.Publishers, publisher => (post, Own(publisher)));

        // A user of this publisher: the same remainder.
        int Own(int publisher) => publisher + (publishers * random.Next((users - publisher + publishers - 1) / publishers));
    }
}
