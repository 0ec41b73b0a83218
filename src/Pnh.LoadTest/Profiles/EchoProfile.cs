using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Profiles;

/// <summary>
/// Round trips: what a user publishes comes back to the same user, by POST or (<c>--via send</c>, PNH with <c>Apps:…:ClientSend</c>) by the session itself.
/// </summary>
internal static class EchoProfile
{
    public static BenchResult Run(BenchRun run)
    {
        var users = run.Options.SessionsOr(100);
        run.Add(users, static _ => []);
        run.Open();
        var rate = run.Options.RateOr(1000);
        return run.Measure(run.Options.Via == "send" ? Sends(run, rate) : OneProfile.Load(run, users, rate));
    }

    // A connection may send 100 messages a second; in turn, each stays far below.
    private static OpenLoad Sends(BenchRun run, double rate)
    {
        var peer = run.Peer as PnhPeer ?? throw new ArgumentException("only PNH's clients publish");
        var message = new Template("{\"type\":\"send\"," + peer.Event(toTopic: false, run.Options.Class)[1..]);
        var next = 0;
        return new OpenLoad(run.Loop, run.Publishers, rate, isEven: false, due =>
        {
            var session = run.Fleet.Sessions[next++ % run.Fleet.Sessions.Count];
            Span<byte> text = stackalloc byte[message.Length];
            message.Write(text, session.User, run.Ledger.Next(session.User), due);
            Span<byte> frame = stackalloc byte[Frames.MostHead + text.Length];
            session.Send(frame[..Frames.Write(frame, Frames.Text, text)]);
            run.Ledger.Accept(session.User);
        });
    }
}
