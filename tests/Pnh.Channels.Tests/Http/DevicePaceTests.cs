using Pnh.Channels.Provider.Sender;
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

    [Theory]
    [InlineData(0)]
    [InlineData(240)]
    public void Hold_ThousandsOfAddresses_StrangersGoOn(int perMinute)
    {
        var pace = new DevicePace(perMinute, _time);
        foreach (var held in Names("held", 10_000))
        {
            pace.Hold(held, TimeSpan.FromHours(1));
        }

        Assert.All(Names("stranger", 20_000), stranger => Assert.Equal(TimeSpan.Zero, pace.Take(stranger)));
        Assert.All(Names("held", 10_000), held => Assert.Equal(TimeSpan.FromHours(1), pace.Take(held)));
    }

    [Fact]
    public void Hold_MoreThanAreKept_TheFirstStaySilentAndTheirPlacesComeBack()
    {
        var pace = new DevicePace(240, _time);
        foreach (var held in Names("held", DevicePace.MostHeld + 100))
        {
            pace.Hold(held, TimeSpan.FromMinutes(1));
        }

        Assert.Equal(DevicePace.MostHeld, Names("held", DevicePace.MostHeld + 100).Count(held => pace.Take(held) > TimeSpan.Zero));
        _time.Advance(TimeSpan.FromMinutes(1));
        pace.Hold("late", TimeSpan.FromMinutes(1));
        Assert.Equal(TimeSpan.FromMinutes(1), pace.Take("late"));
    }

    private static IEnumerable<string> Names(string prefix, int count) => Enumerable.Range(0, count).Select(i => $"{prefix}-{i}");
}
