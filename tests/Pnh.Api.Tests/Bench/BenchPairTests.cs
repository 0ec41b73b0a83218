using System.Text.Json;
using Pnh.LoadTest.Measure;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchPairTests
{
    private const int OldFigure = 2;
    private const int NewFigure = 3;
    private const int RatioFigure = 4;
    private const int Quartiles = 5;
    private const int Verdict = 6;

    [Fact]
    public void Pair_EightPairsAtTheLeast_IsWithin()
    {
        var row = Row(Pairs(100, Enumerable.Repeat(97.0, 8)));

        Assert.Equal(("100", "97", "0.970 (8)", "0.970 to 0.970", "within"), (row[OldFigure], row[NewFigure], row[RatioFigure], row[Quartiles], row[Verdict]));
    }

    [Fact]
    public void Pair_MedianBelowTheLeast_IsBelowAndBad()
    {
        var table = Table(Pairs(100, Enumerable.Repeat(96.9, 8)));

        Assert.Contains("| BELOW |", table, StringComparison.Ordinal);
        Assert.True(PairTable.IsBad(table));
    }

    [Fact]
    public void Pair_HalfFarBelowHalfFarAbove_SaysThatTheQuartilesAreWideApart() =>
        Assert.Equal("within, quartiles wide apart", Row(Pairs(100, [90, 90, 90, 90, 110, 110, 110, 110]))[Verdict]);

    [Fact]
    public void Pair_SevenPairs_JudgeNothing() => Assert.Equal("7 pairs judge nothing", Row(Pairs(100, Enumerable.Repeat(50.0, 7)))[Verdict]);

    [Fact]
    public void Pair_RunsOfOnePairFarApartInTime_AreComparedWithEachOther()
    {
        // The machine halves its speed in the middle: no pair sees it.
        var runs = Enumerable.Range(1, 8).SelectMany(pair => new[] { Of("old", pair, pair > 4 ? 50 : 100), Of("new", pair, pair > 4 ? 50 : 100) });

        Assert.Equal("1.000 (8)", Row(runs.Reverse())[RatioFigure]);
    }

    [Fact]
    public void Pair_MachineHalfAsFastUnderTheNewBuild_ShowsBesideTheLoadTester()
    {
        var runs = Enumerable.Range(1, 8).SelectMany(static pair => new[]
        {
            Of("old", pair, 100) with { ServerCpu = 4, GeneratorCpu = 3 },
            Of("new", pair, 50) with { ServerCpu = 8, GeneratorCpu = 6 },
        });
        var rows = Table(runs).Split('\n').Where(static line => line.Contains("| per CPU s", StringComparison.Ordinal)).ToArray();

        Assert.Contains("| 0.500 (8) |", rows[0], StringComparison.Ordinal);
        Assert.Contains("| 1.000 (8) |", rows[1], StringComparison.Ordinal);
    }

    [Fact]
    public void Pair_OneRunLostAnEvent_IsWrongAndBad()
    {
        var table = Table(Pairs(100, Enumerable.Repeat(200.0, 8)).Append(Of("new", 9, 200) with { Wrong = new Wrong(10, Lost: 1, 0, 0, 0, 0) }));

        Assert.Contains("| WRONG |", table, StringComparison.Ordinal);
        Assert.True(PairTable.IsBad(table));
    }

    [Fact]
    public void Pair_CostRoseByATenth_IsBelow()
    {
        var runs = Enumerable.Range(1, 8).SelectMany(static pair => new[] { Stop("old", pair, 1), Stop("new", pair, 1.1) });

        Assert.Equal("BELOW", Row(runs)[Verdict]);
    }

    [Fact]
    public void Pair_AllClean_IsNotBad() => Assert.False(PairTable.IsBad(Table(Pairs(100, Enumerable.Repeat(100.0, 8)))));

    private static IEnumerable<BenchResult> Pairs(double old, IEnumerable<double> young) => young.SelectMany((value, i) => new[] { Of("old", i + 1, old), Of("new", i + 1, value) });

    private static BenchResult Of(string side, int pair, double perCpuSecond) => Runs.Clean("one:" + side, perCpuSecond) with { Pair = pair };

    private static BenchResult Stop(string side, int pair, double cpu) =>
        Runs.Clean("stop:" + side) with { Pair = pair, Profile = "stop", Extra = new Dictionary<string, double> { ["stopCpu"] = cpu } };

    private static string Table(IEnumerable<BenchResult> runs) =>
        PairTable.Of(runs.Select(static run => JsonSerializer.Serialize(run, BenchJson.Default.BenchResult)), "test");

    private static string[] Row(IEnumerable<BenchResult> runs) => [.. Table(runs).Split('\n')[6].Trim('|', ' ').Split('|').Select(static cell => cell.Trim())];
}
