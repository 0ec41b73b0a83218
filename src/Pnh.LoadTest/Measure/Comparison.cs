using System.Globalization;
using System.Text;
using System.Text.Json;

namespace Pnh.LoadTest.Measure;

/// <summary>The table that bench/compare.sh writes, from its runs: a JSON line each. Figures are medians; a ratio is the median of the pairs' ratios, with the number of those.</summary>
internal static class Comparison
{
    private static readonly string[] Peers = ["nchan", "c", "signalr"];

    public static string Of(IEnumerable<string> lines, string title)
    {
        var runs = lines.Select(static line => JsonSerializer.Deserialize(line, BenchJson.Default.BenchResult)!).ToLookup(static run => run.Label);
        var text = new StringBuilder("# PNH beside its peers\n\n").Append(title).Append("\n\n");
        text.Append("| work | unit | PNH | nchan | C loop | SignalR | of nchan | of C | first bar | aim | |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
        foreach (var bar in Bar.All.Where(bar => runs.Contains(bar.Label)))
        {
            text.Append(Row(bar, runs)).Append('\n');
        }

        var beside = Beside.All.Where(row => runs.Contains(row.Label) && runs.Contains(row.Reference)).ToList();
        if (beside.Count > 0)
        {
            text.Append("\n| one way beside another, medians | this | that | ratio | bar | |\n|---|---|---|---|---|---|\n");
            beside.ForEach(row => text.Append(Row(row, [.. runs[row.Label]], [.. runs[row.Reference]])).Append('\n'));
        }

        text.Append("\n| run | runs | p50 / p99 / p99.9 / max, ms | lost / duplicate / reordered / misrouted / unwanted / mismatched / late | refused, broken | dropped sessions | server, tool CPU of one core | Q |\n|---|---|---|---|---|---|---|---|\n");
        foreach (var group in runs)
        {
            text.Append(Detail(group.Key, [.. group])).Append('\n');
        }

        return text.Append(How).ToString();
    }

    private const string How = """

        How: server on core 0, load tester on core 1, loopback, no TLS, 200 bytes of payload. CPU is user and system time of the server's process and its children by their CPU clocks, from the first
        event that was due until the last one had arrived. PNH in its default configuration with sessions, client tokens, publisher keys and metrics; nchan stores nothing and checks nobody; the C loop is
        `bench/peers/send-loop.c`. "CPU of their ends" is the server's until it is as quiet as before, and for PNH also that of the second in which the sessions stop waiting for their
        clients; what the idle server takes in that time is subtracted, for every peer.
        Ratios are the median over the pairs, whose number stands behind them: "4 of 5" when a side of one has no figure.
        Latencies count from when an event was due; for the chat rooms and the 2 x 1,000 the tool polls (`--poll`). Only ratios within one table compare; a tool near 100 % was the limit itself.

        """;

    private static string Row(Bar bar, ILookup<string, BenchResult> runs)
    {
        var own = runs[bar.Label].ToList();
        var value = Median(own.Select(bar.Figure));
        var group = bar.Label.Split(':')[0];
        var cells = new List<string> { bar.Work, bar.Unit, Number(value) + Condition(bar, own) };
        cells.AddRange(Peers.Select(peer => Number(Median(Peer(peer).Select(bar.OfPeer)))));
        var (pairsOfNchan, pairsOfC) = (Ratio("nchan"), Ratio("c"));
        var (ofNchan, ofC) = (Median(pairsOfNchan.Values), Median(pairsOfC.Values));
        var judged = bar.Reference is null ? value : ofNchan;
        var isFirst = Holds(bar, judged, bar.First);
        var isAim = Holds(bar, judged, bar.Aim) && (bar.AimOfC is not { } limit || ofC >= limit);
        var suffix = bar.Reference is null ? "" : " x";
        cells.Add(Number(ofNchan) + pairsOfNchan.Used);
        cells.Add(Number(ofC) + pairsOfC.Used);
        cells.Add(Number(bar.First) + suffix);
        cells.Add(Number(bar.Aim) + suffix + (bar.AimOfC is { } c ? $", {Number(c)} of C" : ""));
        cells.Add(own.Any(static run => run.Faults.Count > 0) ? "MISSED" : IsWrong(bar, runs) ? "WRONG" : double.IsNaN(judged) ? "no figure"
            : double.IsNaN(bar.First) ? (isAim ? "aim met" : "aim missed") : isAim ? "met, aim too" : isFirst ? "met" : "MISSED");
        return $"| {string.Join(" | ", cells)} |";

        // nchan as the bar says; the others with the same work, or what the reference did where they have no such thing.
        List<BenchResult> Peer(string name)
        {
            var same = $"{group}:{name}";
            var reference = bar.Reference?.Split(':')[0] is { } other ? $"{other}:{name}" : same;
            return [.. runs[name != "nchan" && runs.Contains(same) ? same : reference]];
        }

        PairRatio Ratio(string peer) => PairRatio.Of(own, bar.Figure, Peer(peer), bar.OfPeer);
    }

    private static string Row(Beside row, List<BenchResult> own, List<BenchResult> others)
    {
        var pairs = PairRatio.Of(own, row.Figure, others, row.Figure);
        var ratio = Median(pairs.Values);
        var isMet = row.IsMoreBetter ? ratio >= row.Limit : ratio <= row.Limit;
        var verdict = own.Concat(others).Any(static run => !run.IsClean) ? "WRONG" : double.IsNaN(ratio) ? "no figure" : isMet ? "met" : "MISSED";
        return $"| {row.Work} | {Number(Median(own.Select(row.Figure)))} | {Number(Median(others.Select(row.Figure)))} | {Number(ratio)}{pairs.Used} | {Number(row.Limit)} x | {verdict} |";
    }

    // A server that loses or refuses half has little to do: no figure of such a run says anything, and a ratio has two sides.
    private static bool IsWrong(Bar bar, ILookup<string, BenchResult> runs) =>
        runs[bar.Label].Any(static run => !run.IsClean) || (bar.Reference is { } reference && runs[reference].Any(static run => !run.IsClean));

    private static string Condition(Bar bar, List<BenchResult> own) =>
        bar.Condition is { } name ? $" at {Number(Median(own.Select(run => run.Extra.TryGetValue(name, out var value) ? value : (double?)null)))} %" : "";

    private static bool Holds(Bar bar, double value, double limit) => bar.IsMoreBetter ? value >= limit : value <= limit;

    private static string Detail(string label, List<BenchResult> runs)
    {
        double Of(Func<BenchResult, double?> figure) => Median(runs.Select(figure));
        string Wrong(Func<Wrong, long> figure) => runs.Sum(run => run.Wrong is { } wrong ? figure(wrong) : 0).ToString(CultureInfo.InvariantCulture);
        return $"| {label} | {runs.Count} | {Number(Of(static run => run.Latency?.P50))} / {Number(Of(static run => run.Latency?.P99))} / {Number(Of(static run => run.Latency?.P999))} / {Number(Of(static run => run.Latency?.Max))}"
            + $" | {Wrong(static wrong => wrong.Lost)} / {Wrong(static wrong => wrong.Duplicate)} / {Wrong(static wrong => wrong.Reordered)} / {Wrong(static wrong => wrong.Misrouted)} / {Wrong(static wrong => wrong.Unwanted)} / {Wrong(static wrong => wrong.Mismatched)} / {Wrong(static wrong => wrong.Late)}"
            + $" | {runs.Sum(static run => run.Refused)}, {runs.Sum(static run => run.Broken)} | {runs.Sum(static run => run.Dropped)}"
            + $" | {Number(100 * Of(static run => run.ServerCpu / run.Seconds))} %, {Number(100 * Of(static run => run.GeneratorCpu / run.Seconds))} % | {Number(Of(static run => run.Q))} |";
    }

    private static double Median(IEnumerable<double?> figures) => Median([.. figures.OfType<double>()]);

    private static double Median(IReadOnlyList<double> unsorted)
    {
        var values = unsorted.Order().ToList();
        return values.Count == 0 ? double.NaN : (values[(values.Count - 1) / 2] + values[values.Count / 2]) / 2;
    }

    private static string Number(double value) => double.IsNaN(value) ? "–" : value switch
    {
        >= 1000 => value.ToString("#,0", CultureInfo.InvariantCulture),
        >= 100 => value.ToString("0", CultureInfo.InvariantCulture),
        _ => value.ToString("0.##", CultureInfo.InvariantCulture),
    };
}
