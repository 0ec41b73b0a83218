using Pnh.LoadTest.Measure;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchComparisonTests
{
    private const int OfNchan = 6;
    private static readonly Wrong OneLost = new(10, Lost: 1, 0, 0, 0, 0);

    [Fact]
    public void Compare_AllRunsClean_JudgesTheRatio() =>
        Assert.Equal("met, aim too", Runs.Compare(Runs.Clean("one:pnh", 200), Runs.Clean("one:nchan", 100))[^1]);

    [Fact]
    public void Compare_OneRunLostAnEvent_IsWrongHoweverFast() =>
        Assert.Equal("WRONG", Runs.Compare(Runs.Clean("one:pnh", 200), Runs.Clean("one:pnh", 900) with { Wrong = OneLost }, Runs.Clean("one:nchan", 100), Runs.Clean("one:nchan", 100))[^1]);

    [Fact]
    public void Compare_PeerLostAnEvent_IsWrong() =>
        Assert.Equal("WRONG", Runs.Compare(Runs.Clean("one:pnh", 200), Runs.Clean("one:nchan", 100) with { Wrong = OneLost })[^1]);

    [Fact]
    public void Compare_RunWithBrokenEvents_IsWrong() =>
        Assert.Equal("WRONG", Runs.Compare(Runs.Clean("one:pnh", 200) with { Broken = 1 }, Runs.Clean("one:nchan", 100))[^1]);

    [Fact]
    public void Compare_OneRunWithoutAFigure_LeavesItsPairOut()
    {
        var row = Runs.Compare(Own(1, 200), Own(2, null), Own(3, 600), Own(4, 800), Of(1, 100), Of(2, 200), Of(3, 300), Of(4, 400));

        Assert.Equal("2 (3 of 4)", row[OfNchan]);
    }

    [Fact]
    public void Compare_PeersRunMissing_JoinsTheOthersByTheirPair() =>
        Assert.Equal("2 (2 of 3)", Runs.Compare(Own(1, 200), Own(2, 900), Own(3, 600), Of(3, 300), Of(1, 100))[OfNchan]);

    [Fact]
    public void Compare_AllPairsWhole_SaysHowMany() => Assert.Equal("2 (2)", Runs.Compare(Own(1, 200), Own(2, 400), Of(1, 100), Of(2, 200))[OfNchan]);

    [Fact]
    public void Compare_PairRunTwice_LeavesItOut() => Assert.Equal("2 (1 of 2)", Runs.Compare(Own(1, 200), Own(1, 300), Own(2, 400), Of(1, 100), Of(2, 200))[OfNchan]);

    [Fact]
    public void Compare_OldFileWithOneRunLess_HasNoRatio()
    {
        var row = Runs.Compare(Own(null, 200), Own(null, 400), Of(null, 100));

        Assert.Equal(("– (0 of 2)", "no figure"), (row[OfNchan], row[^1]));
    }

    [Fact]
    public void Compare_OldFileWithAllRuns_PairsByPosition() =>
        Assert.Equal("2 (2 of 3)", Runs.Compare(Own(null, 200), Own(null, null), Own(null, 600), Of(null, 100), Of(null, 200), Of(null, 300))[OfNchan]);

    private static BenchResult Own(int? pair, double? perCpuSecond) => Runs.Clean("one:pnh") with { Pair = pair, EventsPerCpuSecond = perCpuSecond };

    private static BenchResult Of(int? pair, double? perCpuSecond) => Runs.Clean("one:nchan") with { Pair = pair, EventsPerCpuSecond = perCpuSecond };
}
