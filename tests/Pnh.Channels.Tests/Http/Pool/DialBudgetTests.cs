using Pnh.Channels.Provider.Connections;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http.Pool;

public sealed class DialBudgetTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public void Reason_BucketEmptyAnHourAfterAFault_Paced()
    {
        var dials = new DialBudget(2, _time);
        dials.Failed("tls-failed");
        Assert.Equal("tls-failed", dials.Reason);

        _time.Advance(TimeSpan.FromHours(1));
        Assert.True(dials.TryTake());
        Assert.True(dials.TryTake());
        Assert.False(dials.TryTake());
        Assert.Equal("dial-paced", dials.Reason);
    }

    [Fact]
    public void Reason_NothingFailedYet_Paced() => Assert.Equal("dial-paced", new DialBudget(1, _time).Reason);

    [Fact]
    public void GiveBack_EmptyBucket_OneMoreAtOnceAndNeverMoreThanAFullOne()
    {
        var dials = new DialBudget(2, _time);
        dials.GiveBack();
        Assert.True(dials.TryTake());
        Assert.True(dials.TryTake());
        Assert.False(dials.TryTake());

        dials.GiveBack();
        Assert.True(dials.TryTake());
        Assert.False(dials.TryTake());
    }
}
