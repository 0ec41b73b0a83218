using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>Bulk ingest: NDJSON uploads as fast as they are answered, each event to one session.</summary>
internal static class NdjsonProfile
{
    public static BenchResult Run(BenchRun run)
    {
        var peer = run.Peer as PnhPeer ?? throw new ArgumentException("only PNH takes NDJSON");
        var users = run.Options.SessionsOr(500);
        run.Add(users, static _ => []);
        run.Open();
        return run.Measure(new BatchLoad(run.Options, peer, run.Loop, run.Ledger, run.Publishers, users));
    }
}
