using Pnh.Channels.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http;

public sealed class DevicePaceTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public void Take_MoreThanAMinutesWorth_ThatDeviceWaitsTheOthersDoNot()
    {
        var pace = new DevicePace(240, _time);
        var taken = 0;
        while (pace.Take("phone") == TimeSpan.Zero)
        {
            taken++;
            Assert.InRange(taken, 1, 1_000);
        }

        Assert.InRange(taken, 240, 241);
        Assert.Equal(TimeSpan.Zero, pace.Take("another"));
        _time.Advance(pace.Take("phone"));
        Assert.Equal(TimeSpan.Zero, pace.Take("phone"));
        Assert.NotEqual(TimeSpan.Zero, pace.Take("phone"));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(240)]
    public void Hold_TheProviderAskedForIt_SilentForSoLong(int perMinute)
    {
        var pace = new DevicePace(perMinute, _time);
        pace.Hold("phone", TimeSpan.FromSeconds(30));

        Assert.Equal(TimeSpan.FromSeconds(30), pace.Take("phone"));
        Assert.Equal(TimeSpan.Zero, pace.Take("another"));
        _time.Advance(TimeSpan.FromSeconds(30));
        Assert.Equal(TimeSpan.Zero, pace.Take("phone"));
    }
}
