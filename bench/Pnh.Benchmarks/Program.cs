using System.Globalization;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.NoEmit;
using Pnh.Benchmarks;

switch (args)
{
    case ["budgets", var file]:
        return Budgets.Check(file);

    case ["quick", .. var filter]:
        foreach (var (name, start) in Pieces.All.Where(p => filter.Length == 0 || filter.Any(f => p.Key.Contains(f, StringComparison.Ordinal))))
        {
            using var piece = start();
            var (wall, cpu) = Measure.Time(piece);
            var bytes = Measure.Bytes(piece, everywhere: true, Math.Max(10, 2_000 / piece.Of));
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{name,-62} {wall,12:N1} ns {cpu,12:N1} ns cpu {bytes,10:N1} B"));
        }

        return 0;

    case ["disconnect", var report]:
        return Disconnect.Run(report);

    default:
        // In process: the generated project of the usual toolchain would be built with this repository's settings and lock files.
        var config = DefaultConfig.Instance.AddJob(Job.ShortRun.WithToolchain(InProcessNoEmitToolchain.Instance));
        BenchmarkSwitcher.FromTypes([typeof(PieceBenchmarks)]).Run(args, config);
        return 0;
}
