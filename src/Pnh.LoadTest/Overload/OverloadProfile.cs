namespace Pnh.LoadTest.Overload;

/// <summary>The hub below, at and above what it can take. Started by bench/overload.sh, which starts the hub too.</summary>
internal static class OverloadProfile
{
    // From how many publishers at once all that the hub takes is measured.
    private static readonly int[] Publishers = [1, 64, 1024];

    /// <summary>Gives whether all that was taken arrived as it should, and nothing else. How fast it was is in the report.</summary>
    public static async Task<bool> RunAsync(string[] args, IReadOnlyDictionary<string, string> defaults)
    {
        var options = LoadOptions.Parse(args, defaults);
        using var run = new LoadRun(options);
        await Setup.RegisterAsync(options);
        run.Open();

        // Compiles both sides, the ways of a refusal too: done during a phase that took a third of its core, and refusals were late for it. Thrown away.
        var peak = run.Saturate("warm", 64).Goodput;
        run.Saturate("warm", 1024);
        run.Offer("warm", 3 * peak, obey: false);
        run.Offer("warm", 3 * peak, obey: true);
        var before = SyncProbe.Measure(options.Data);
        var phases = new List<Phase>();
        foreach (var publishers in Publishers.Where(n => Has(options, $"all it takes from {n}")))
        {
            phases.Add(run.Saturate($"all it takes from {publishers}", publishers));
        }

        var openShare = options.Capacity > 0 ? 1 : FindOpenShare(run, phases);
        foreach (var (name, share, obey) in Offers(options.Rounds).Where(phase => Has(options, phase.Name)))
        {
            // Anew for each phase: the speed of a shared host moved by 40 % within a run, and 70 % of what was is more than all of what is.
            peak = options.Capacity > 0 ? options.Capacity : run.Saturate(name, 64).Goodput;
            await Console.Error.WriteLineAsync($"capacity {openShare * peak:F0}/s; next: {name}");
            phases.Add(run.Offer(name, share * openShare * peak, obey) with { Peak = peak });
        }

        var report = OverloadReport.Write(options, new OverloadReport.Facts(before, SyncProbe.Measure(options.Data), run.Closed, run.Faults), phases);
        await Console.Out.WriteAsync(report);
        if (options.Output is { } path)
        {
            await File.WriteAllTextAsync(path, report);
        }

        return run.Faults.IsClean && phases.Exists(static phase => phase.Seen.Accepted > 0);
    }

    // One pair of peak and phase moved by 40 points between runs of one build, so the last is done several times: its bars are held against the median.
    private static IEnumerable<(string Name, double Share, bool Obey)> Offers(int rounds) =>
    [
        ("no events", 0, false), ("idle", 0.02, false), ("70 %", 0.7, false), ("200 %", 2.0, false), ("300 %", 3.0, false),
        .. Enumerable.Repeat((Targets.Obeyed, 3.0, true), rounds),
    ];

    private static bool Has(LoadOptions options, string phase) => phase.Contains(options.Only, StringComparison.Ordinal);

    // The load that the hub can take: the most of an open loop of which it refuses nothing, as a share of what 64 publishers get out of it who each wait for their
    // answer. Those come in groups, which cost less; at random times over 1,024 connections each event costs its own wake-up.
    private static double FindOpenShare(LoadRun run, List<Phase> phases)
    {
        for (var share = 1.0; ; share -= 0.1)
        {
            var peak = run.Saturate("peak", 64).Goodput;
            var phase = run.Offer(FormattableString.Invariant($"open loop, {share:F1} of the peak"), share * peak, obey: false) with { Peak = peak };
            phases.Add(phase);
            if ((phase.Seen.Refused == 0 && phase.Seen.GivenUp == 0) || share < 0.45)
            {
                return share;
            }
        }
    }
}
