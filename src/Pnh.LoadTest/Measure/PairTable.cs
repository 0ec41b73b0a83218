using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Pnh.LoadTest.Measure;

/// <summary>
/// The table that bench/pair.sh writes: an old and a new build, from runs in pairs, a JSON line each; labels are <c>group:old</c> and <c>group:new</c>. A ratio is new by old, the
/// median over the pairs.
/// </summary>
internal static class PairTable
{
    /// <summary>Pairs that a judgement needs.</summary>
    public const int Enough = 8;

    /// <summary>The least that the median of the ratios may be, where more is better.</summary>
    public const double Least = 0.97;

    // Quartiles that lie wider apart than this are named: the machine was louder than what is judged.
    private const double Quiet = 0.03;

    private const string Below = "BELOW";
    private const string Wrong = "WRONG";

    /// <summary>Whether the table says that the new build is slower, or that a run was not clean.</summary>
    public static bool IsBad(string table) => table.Contains(Below, StringComparison.Ordinal) || table.Contains(Wrong, StringComparison.Ordinal);

    /// <summary>The table, under its title.</summary>
    public static string Of(IEnumerable<string> lines, string title)
    {
        var runs = lines.Select(static line => JsonSerializer.Deserialize(line, BenchJson.Default.BenchResult)!).ToLookup(static run => run.Label);
        var text = new StringBuilder("# Old and new build in pairs\n\n").Append(title).Append("\n\n");
        text.Append("| work | unit | old | new | new of old | quartiles | |\n|---|---|---|---|---|---|---|\n");
        foreach (var bar in Bar.All.DistinctBy(static bar => (bar.Label, bar.Figure)))
        {
            var group = bar.Label.Split(':')[0];
            var (old, young) = (runs[group + ":old"].ToList(), runs[group + ":new"].ToList());
            if (old.Count == 0 && young.Count == 0)
            {
                continue;
            }

            text.Append(Row(bar.Work, bar.Unit, old, young, bar.Figure, bar.IsMoreBetter));
            if (bar.Unit == "per CPU s")
            {
                text.Append(Row(bar.Work, "per CPU s, beside the load tester's", old, young, BesideLoadTester, isMoreBetter: null));
                text.Append(Row(bar.Work, "p99, ms", old, young, static run => run.Latency?.P99, isMoreBetter: null));
            }
        }

        return text.Append(CultureInfo.InvariantCulture, $"\nA row is within when the median of at least {Enough} pairs is not below {Least} (of a cost: its inverse). p99 is shown, not judged. The load tester does the same work for both builds: its CPU time by the hub's shows what is left of a difference when the machine changes its speed.\n").ToString();
    }

    private static double? BesideLoadTester(BenchResult run) => run.ServerCpu > 0 && run.GeneratorCpu > 0 ? run.GeneratorCpu / run.ServerCpu : null;

    private static string Row(string work, string unit, List<BenchResult> old, List<BenchResult> young, Func<BenchResult, double?> figure, bool? isMoreBetter)
    {
        var ratio = PairRatio.Of(young, figure, old, figure);
        var values = ratio.Values.Order().ToList();
        var verdict = old.Concat(young).Any(static run => !run.IsClean) ? Wrong : isMoreBetter is { } more ? Judge(values, more) : "";
        string[] cells =
        [
            work, unit, Number(Quantile([.. old.Select(figure).OfType<double>().Order()], 0.5)), Number(Quantile([.. young.Select(figure).OfType<double>().Order()], 0.5)),
            Ratio(Quantile(values, 0.5)) + ratio.Used, $"{Ratio(Quantile(values, 0.25))} to {Ratio(Quantile(values, 0.75))}", verdict,
        ];
        return $"| {string.Join(" | ", cells)} |\n";
    }

    private static string Judge(List<double> ratios, bool isMoreBetter)
    {
        if (ratios.Count < Enough)
        {
            return FormattableString.Invariant($"{ratios.Count} pairs judge nothing");
        }

        var median = Quantile(ratios, 0.5);
        var verdict = (isMoreBetter ? median : 1 / median) >= Least ? "within" : Below;
        return Quantile(ratios, 0.75) - Quantile(ratios, 0.25) > Quiet ? verdict + ", quartiles wide apart" : verdict;
    }

    private static double Quantile(List<double> sorted, double share)
    {
        if (sorted.Count == 0)
        {
            return double.NaN;
        }

        var at = share * (sorted.Count - 1);
        var (low, high) = ((int)Math.Floor(at), (int)Math.Ceiling(at));
        return sorted[low] + ((at - low) * (sorted[high] - sorted[low]));
    }

    private static string Ratio(double value) => double.IsNaN(value) ? "–" : value.ToString("0.000", CultureInfo.InvariantCulture);

    private static string Number(double value) => double.IsNaN(value) ? "–" : value.ToString(value >= 100 ? "#,0" : "0.##", CultureInfo.InvariantCulture);
}
