using Pnh.LoadTest.Measure;

namespace Pnh.Api.Tests.Bench;

public sealed class BenchResultTests
{
    [Theory]
    [InlineData("one", false)]
    [InlineData("chat", false)]
    [InlineData("storm", true)]
    [InlineData("idle", true)]
    [InlineData("stop", true)]
    public void IsClean_SessionDropped_OnlyWhereDropsAreThePoint(string profile, bool expected) =>
        Assert.Equal(expected, (Runs.Clean("x") with { Profile = profile, Dropped = 1 }).IsClean);

    [Fact]
    public void IsClean_OnlyLate_IsTrue() => Assert.True((Runs.Clean("x") with { Wrong = new Wrong(10, 0, 0, 0, Late: 3, 0) }).IsClean);
}
