using Pnh.Api.Listeners;

namespace Pnh.Api.Tests.FrontDoor;

/// <summary>The shares of the descriptors.</summary>
public sealed class DescriptorPlanTests
{
    [Theory]
    [InlineData(256, 215)]
    [InlineData(400, 230)]
    [InlineData(1_024, 230)]
    [InlineData(20_000, 230)]
    [InlineData(16 * 1024 * 1024, 230)]
    public void Make_AnyLimit_AllSharesTogetherFit(int limit, int open)
    {
        var plan = DescriptorPlan.Make(limit, open);
        Assert.True(open + plan.Public + plan.Operations + plan.Own < limit);
        Assert.True(plan is { Public: >= 6, Operations: >= 4, Own: >= 8 });
        Assert.True(plan.HighestPublic < plan.HighestOperations && plan.HighestOperations < limit);
    }

    [Fact]
    public void Make_TooFew_SaysHowManyItNeeds() =>
        Assert.Contains("may have 240 files open and needs 251", Assert.Throws<DescriptorException>(static () => DescriptorPlan.Make(240, 215)).Message, StringComparison.Ordinal);

    [Fact]
    public void FindProblem_FewerThanAnyStartNeeds_SaysSoInWordsOfMake()
    {
        Assert.Contains("may have 200 files open and needs at least 240", DescriptorPlan.FindProblem(200), StringComparison.Ordinal);
        Assert.Null(DescriptorPlan.FindProblem(240));
    }

    [Fact]
    public void SocketsOf_ALargeHub_LeavesAThousandToHttp() => Assert.Equal(48_976, DescriptorPlan.SocketsOf(50_000));

    [Fact]
    public void Require_MoreThanFit_SaysHowManyDo()
    {
        var plan = DescriptorPlan.Make(1_024, 230);
        var sockets = DescriptorPlan.SocketsOf(plan.Public);
        Assert.InRange(sockets, plan.Public * 7 / 8, (plan.Public * 7 / 8) + 1);
        plan.Require(sockets);
        var refusal = Assert.Throws<DescriptorException>(() => plan.Require(sockets + 1));
        Assert.Contains($"give at most {sockets}", refusal.Message, StringComparison.Ordinal);
    }
}
