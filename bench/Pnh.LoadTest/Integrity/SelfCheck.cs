using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Integrity;

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
            var (lost, duplicate, reordered, misrouted) = Feed(fault);
            var faults = Events / Arrivals.FaultEvery;

            // What went to somebody else is missing where it belongs.
            var isSeen = lost == (fault is Fault.Lose or Fault.Misroute ? faults : 0) && duplicate == (fault == Fault.Duplicate ? faults : 0)
                && reordered == (fault == Fault.Reorder ? faults : 0) && misrouted == (fault == Fault.Misroute ? faults : 0);
            failed += isSeen ? 0 : 1;
            Console.WriteLine($"{(isSeen ? "ok  " : "FAIL")} {fault}: {lost} lost, {duplicate} duplicate, {reordered} reordered, {misrouted} misrouted");
        }

        return failed == 0 ? 0 : 1;
    }

    // An event as a server's frame brings it: what is put into the gaps comes out again.
    private static bool ReadsWhatItWrites()
    {
        var template = new Template("{\"to\":\"{stream}\",\"data\":" + Payload.Text(200) + "}");
        var text = new byte[template.Length];
        template.Write(text, Ledger.FirstTopic + 7, 123_456_789, long.MaxValue);
        byte[] frame = [0x81, 126, (byte)(text.Length >> 8), (byte)text.Length, .. text];
        var isRead = Frames.TryRead(frame, out var opcode, out var payload, out var length) && opcode == Frames.Text && length == frame.Length
            && !Frames.TryRead(frame.AsSpan(..^1), out _, out _, out _)
            && Payload.TryRead(payload, out var stream, out var sequence, out var due, out _)
            && (stream, sequence, due) == (Ledger.FirstTopic + 7, 123_456_789, long.MaxValue)
            && new Template(Payload.Text(200)).Length == 200;
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

    private static (long Lost, long Duplicate, long Reordered, long Misrouted) Feed(Fault fault)
    {
        var ledger = new Ledger();
        var arrivals = new Arrivals(fault, lateAfter: 1e9);
        var checks = Enumerable.Range(0, Recipients).Select(static stream => new[] { new StreamCheck(stream * 2, 0) }).ToArray();
        for (var i = 0; i < Events; i++)
        {
            var check = checks[i % Recipients];
            arrivals.Take(check, check[0].Stream, ledger.Next(check[0].Stream), 0);
        }

        return (checks.Sum(check => ledger.Lost(check[0])), arrivals.Duplicates, arrivals.Reordered, arrivals.Misrouted);
    }
}
