using Pnh.LoadTest.Clients;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Options;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Profiles;

/// <summary>Shows without a hub that each fault is seen as what it is, and that nothing is seen where there is none.</summary>
internal static class SelfCheck
{
    private const int Recipients = 10;
    private const int Events = 10_000; // ten faults, and something after the last

    /// <summary>0 = all as it should be.</summary>
    public static int Run()
    {
        var failed = (ReadsWhatItWrites() ? 0 : 1) + (SeesReplaysOfThePast() ? 0 : 1);
        foreach (var fault in Enum.GetValues<Fault>())
        {
            var wrong = Feed(fault);
            var isSeen = wrong == Expected(fault);
            failed += isSeen ? 0 : 1;
            Console.WriteLine(
                $"{(isSeen ? "ok  " : "FAIL")} {fault}: {wrong.Lost} lost, {wrong.Duplicate} duplicate, {wrong.Reordered} reordered, {wrong.Misrouted} misrouted, {wrong.Mismatched} mismatched");
        }

        return failed == 0 ? 0 : 1;
    }

    // What went to somebody else is missing where it belongs.
    private static Wrong Expected(Fault fault)
    {
        const int Faults = Events / Arrivals.FaultEvery;
        long If(params ReadOnlySpan<Fault> these) => these.Contains(fault) ? Faults : 0;
        return new Wrong(
            Events, If(Fault.Lose, Fault.Misroute), If(Fault.Duplicate), If(Fault.Reorder), 0, If(Fault.Misroute), 0, If(Fault.WrongAnswer, Fault.Corrupt));
    }

    // An event as a server's frame brings it: what is put into the gaps comes out again.
    private static bool ReadsWhatItWrites()
    {
        var template = new Template("{\"to\":\"{stream}\",\"data\":" + MessagePayload.Text(200) + "}");
        var text = new byte[template.Length];
        template.Write(text, MessageLedger.FirstTopic + 7, 123_456_789, long.MaxValue);
        byte[] frame = [0x81, 126, (byte)(text.Length >> 8), (byte)text.Length, .. text];
        var isRead = Frames.TryRead(frame, out var opcode, out var payload, out var length) && opcode == Frames.Text && length == frame.Length
            && !Frames.TryRead(frame.AsSpan(..^1), out _, out _, out _)
            && MessagePayload.TryRead(payload, out var stream, out var sequence, out var due, out _)
            && (stream, sequence, due) == (MessageLedger.FirstTopic + 7, 123_456_789, long.MaxValue)
            && new Template(MessagePayload.Text(200)).Length == 200;
        Console.WriteLine($"{(isRead ? "ok  " : "FAIL")} a payload comes out of its frame as it went in");
        return isRead;
    }

    // What a wrong replay brings again came before the check was restarted; what only is behind did not.
    private static bool SeesReplaysOfThePast()
    {
        var isSeen = AfterRestart(came: Recipients) == 1 && AfterRestart(came: Recipients - 1) == 0;
        Console.WriteLine($"{(isSeen ? "ok  " : "FAIL")} what came before a restart is a duplicate after it, what did not is none");
        return isSeen;
    }

    private static long AfterRestart(int came)
    {
        var arrivals = new Arrivals(Fault.None, lateAfter: 1e9);
        StreamCheck[] checks = [new StreamCheck(0, 0)];
        for (var sequence = 1; sequence <= came; sequence++)
        {
            arrivals.Take(checks, 0, sequence, 0);
        }

        checks[0].Restart(Recipients);
        arrivals.Restart();
        arrivals.Take(checks, 0, Recipients, 0);
        return arrivals.Duplicates;
    }

    // As a hub's frames and answers bring them, so that everything that judges an arrival is on the way.
    private static Wrong Feed(Fault fault)
    {
        var options = new BenchOptions("one", ["--key", "k", "--secret", "s", "--class", "message", "--break", fault.ToString()], new Dictionary<string, string>());
        using var loop = new Loop();
        var ledger = new MessageLedger();
        var arrivals = new Arrivals(fault, lateAfter: 1e9);
        var (fleet, peer, contents) = (new Fleet(options, loop, arrivals), new PnhPeer(options), new Contents(options));
        var sessions = Enumerable.Range(0, Recipients).Select(user => new ClientSession(fleet, peer, user * 2, [new StreamCheck(user * 2, 0)])).ToList();
        var answer = new Template("{\"id\":\"" + options.Run + "-{stream}-{seq}\",\"durable\":true}");
        var frame = new Template("{\"type\":\"event\",\"seq\":{seq},\"id\":\"" + options.Run + "-{stream}-{seq}\",\"class\":\"message\",\"data\":" + MessagePayload.Text(options.Size) + "}");
        var (answerBytes, frameBytes, mismatched) = (new byte[answer.Length], new byte[frame.Length], 0);
        for (var i = 0; i < Events; i++)
        {
            var session = sessions[i % Recipients];
            var posted = new Posted(session.User, ledger.Next(session.User), 0, HasId: true);
            answer.Write(answerBytes, posted.Stream, posted.Sequence, posted.Due);
            mismatched += contents.Confirms(answerBytes, posted) ? 0 : 1;
            frame.Write(frameBytes, posted.Stream, posted.Sequence, posted.Due);
            peer.Read(session, frameBytes);
        }

        return new Wrong(
            Events, sessions.Sum(session => ledger.Lost(session.Streams[0])), arrivals.Duplicates, arrivals.Reordered, arrivals.Late, arrivals.Misrouted,
            sessions.Sum(session => ledger.Unwanted(session.Streams[0])), mismatched + arrivals.Mismatched);
    }
}
