using Pnh.LoadTest.Measure;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchComparisonTests
{
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
}
