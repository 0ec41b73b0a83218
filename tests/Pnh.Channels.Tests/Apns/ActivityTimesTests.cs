using System.Text.Json;
using Pnh.Channels.Apns;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

/// <summary>Updates of one live activity that come within a second.</summary>
public sealed class ActivityTimesTests
{
    private readonly FakeTimeProvider _time = new();
    private readonly ActivityTimes _times = new();

    [Fact]
    public void Stamp_SeveralWithinASecond_RiseInTheOrderOfTheirAcceptance()
    {
        var start = _time.GetUtcNow().ToUnixTimeSeconds();
        var events = Enumerable.Range(0, 4).Select(_ => Accept()).ToList();
        foreach (var i in (int[])[0, 2, 1, 3])
        {
            _times.Stamp(events[i]);
        }

        Assert.Equal([start, start, start + 1, start + 2], events.Select(ActivityTimes.Of));
        _times.Stamp(events[3]);
        Assert.Equal(start + 2, ActivityTimes.Of(events[3]));
        _time.Advance(TimeSpan.FromMinutes(5));
        var later = Accept();
        _times.Stamp(later);
        Assert.Equal(later.AcceptedAt.ToUnixTimeSeconds(), ActivityTimes.Of(later));
    }

    [Fact]
    public async Task SendAsync_ThreeUpdatesWithinASecond_HaveRisingTimestampsAndMaySaveTheBattery()
    {
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), _time);
        for (var i = 0; i < 3; i++)
        {
            var update = Sample.Event(_time, id: $"u{i}", overrides: new() { ["apns"] = """{"aps":{"event":"update","content-state":{}}}""" }, priority: i == 2 ? PushPriority.Saving : PushPriority.ByClass);
            await apns.SendAsync(Sample.Delivery(update, ApnsFixture.Address("liveActivityToken")));
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        var stamps = apns.Server.Requests.Select(static one => JsonDocument.Parse(one.Text).RootElement.GetProperty("aps").GetProperty("timestamp").GetInt64()).ToList();
        Assert.Equal([stamps[0], stamps[0] + 1, stamps[0] + 2], stamps);
        Assert.Equal(["10", "10", "5"], apns.Server.Requests.Select(static one => one.Headers["apns-priority"]));
    }

    private Event Accept()
    {
        var accepted = Sample.Event(_time);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        return accepted;
    }
}
