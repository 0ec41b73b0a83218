namespace Pnh.LoadTest.Overload;

/// <summary>The hub below, at and above what it can take. Started by bench/overload.sh, which starts the hub too.</summary>
internal static class OverloadProfile
{
    public static async Task RunAsync(string[] args, IReadOnlyDictionary<string, string> defaults)
    {
        var options = LoadOptions.Parse(args, defaults);
        using var run = new LoadRun(options);
        await Setup.RegisterAsync(options);
        run.Open();

        // Compiles both sides; its figures are thrown away.
        run.Saturate("warm", 64);
        var before = SyncProbe.Measure(options.Data);
        var phases = new List<Phase>();
        foreach (var publishers in new[] { 1, 64, 1024 })
        {
            phases.Add(run.Saturate($"all it takes from {publishers}", publishers));
        }

        foreach (var (name, share, obey) in new[]
        {
            ("no events", 0, false), ("idle", 0.02, false), ("70 %", 0.7, false), ("200 %", 2.0, false), ("300 %", 3.0, false),
            ("300 %, Retry-After obeyed", 3.0, true),
        })
        {
            // What its core could take if nothing else ran there: accepted per CPU second, which a busy machine disturbs less than accepted per second. Anew
            // for each phase: the speed of a shared host moved by 40 % within a run, and 70 % of what was is more than all of what is.
            var capacity = options.Capacity > 0 ? options.Capacity : run.Saturate(name, 64).Goodput;
            await Console.Error.WriteLineAsync($"capacity {capacity:F0}/s; next: {name}");
            phases.Add(run.Offer(name, share * capacity, obey) with { Capacity = capacity });
        }

        var report = OverloadReport.Write(options, new OverloadReport.Facts(before, SyncProbe.Measure(options.Data), run.Closed), phases);
        await Console.Out.WriteAsync(report);
        if (options.Output is { } path)
        {
            await File.WriteAllTextAsync(path, report);
        }
    }
}
