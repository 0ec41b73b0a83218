using Pnh.Channels.Provider.Sender;

namespace Pnh.Channels.Tests.Http;

public sealed class RetryBudgetTests
{
    [Fact]
    public void TrySpend_EveryRequestWantsARetry_ATenthOfThemAndTheReserve()
    {
        var budget = new RetryBudget();
        var retries = 0;
        for (var i = 0; i < 10_000; i++)
        {
            budget.Earn();
            retries += budget.TrySpend() ? 1 : 0;
            retries += budget.TrySpend() ? 1 : 0;
        }

        Assert.InRange(retries, 1_000, 1_000 + RetryBudget.Reserve);
    }

    [Fact]
    public void Earn_LongWithoutTrouble_NoMoreThanTheReserveIsSaved()
    {
        var budget = new RetryBudget();
        for (var i = 0; i < 10_000; i++)
        {
            budget.Earn();
        }

        Assert.Equal(RetryBudget.Reserve, Enumerable.Range(0, 100).Count(_ => budget.TrySpend()));
    }
}
