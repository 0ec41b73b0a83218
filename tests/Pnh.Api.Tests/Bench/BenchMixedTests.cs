using Pnh.LoadTest.Measure;
using Pnh.LoadTest.Profiles;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchMixedTests
{
    private const int Pnh = 2;
    private static readonly BenchResult Calls = Runs.Clean("mixed:pnh") with { Deliveries = 10, Latency = new Times(1, 1, 1, 2.5, 3, 4) };

    [Fact]
    public void Join_ShareReachedAndEveryCallArrived_HasTheCallsFigure()
    {
        var result = MixedProfile.Join(Broadcast(7.1), Calls);

        Assert.Equal(("2.5 at 71 %", "met, aim too"), (Runs.Compare(result)[Pnh], Runs.Compare(result)[^1]));
        Assert.True(result.IsClean);
    }

    [Theory]
    [InlineData(6.5)]
    [InlineData(8.2)]
    public void Join_ShareMissed_HasNoFigure(double cpu)
    {
        var row = Runs.Compare(MixedProfile.Join(Broadcast(cpu), Calls));

        Assert.Equal(($"– at {cpu * 10:0} %", "no figure"), (row[Pnh], row[^1]));
    }

    [Fact]
    public void Join_ServersProcessUnknown_HasNoFigure() => Assert.Null(MixedProfile.Join(Broadcast(7.1) with { ServerCpu = null }, Calls).Latency);

    public static TheoryData<string> Faults => ["refused", "broken", "lost", "none"];

    [Theory]
    [MemberData(nameof(Faults))]
    public void Join_CallsWentWrong_IsMissedAndNotClean(string fault)
    {
        var called = fault switch
        {
            "refused" => Calls with { Refused = 1 },
            "broken" => Calls with { Broken = 1 },
            "lost" => Calls with { Wrong = new Wrong(10, Lost: 1, 0, 0, 0, 0) },
            _ => Calls with { Deliveries = 0, Latency = null },
        };
        var result = MixedProfile.Join(Broadcast(7.1) with { Refused = 2, Broken = 3 }, called);

        Assert.Equal((2 + called.Refused, 3 + called.Broken), (result.Refused, result.Broken));
        Assert.Equal("MISSED", Runs.Compare(result)[^1]);
        Assert.False((result with { Broken = 0, Wrong = null }).IsClean);
    }

    private static BenchResult Broadcast(double cpu) => Runs.Clean("mixed:pnh") with { Seconds = 10, ServerCpu = cpu, Latency = new Times(9, 9, 9, 9, 9, 9) };
}
