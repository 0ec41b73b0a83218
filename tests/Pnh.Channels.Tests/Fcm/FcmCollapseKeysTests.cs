using System.Text.Json;
using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public class FcmCollapseKeysTests
{
    private static readonly TimeSpan Ttl = TimeSpan.FromMinutes(10);

    private readonly FakeTimeProvider _time = new();

    [Fact]
    public void TryTake_FifthKey_RefusedUntilOneIsFree()
    {
        var keys = new FcmCollapseKeys(_time);
        for (var key = 0; key < FcmCollapseKeys.Most; key++)
        {
            Assert.True(keys.TryTake("phone", $"chat-{key}", Ttl + TimeSpan.FromMinutes(key)));
        }

        Assert.False(keys.TryTake("phone", "chat-4", Ttl));
        Assert.True(keys.TryTake("phone", "chat-0", Ttl));
        Assert.True(keys.TryTake("tablet", "chat-4", Ttl));

        _time.Advance(Ttl + TimeSpan.FromSeconds(2));
        Assert.True(keys.TryTake("phone", "chat-4", Ttl));
        Assert.False(keys.TryTake("phone", "chat-0", Ttl));
    }

    [Fact]
    public void TryTake_ShorterMessageOfAKey_KeepsItAsLongAsTheLongerOne()
    {
        var keys = new FcmCollapseKeys(_time);
        for (var key = 0; key < FcmCollapseKeys.Most; key++)
        {
            keys.TryTake("phone", $"chat-{key}", Ttl);
            keys.TryTake("phone", $"chat-{key}", TimeSpan.Zero);
        }

        _time.Advance(Ttl / 2);
        Assert.False(keys.TryTake("phone", "chat-4", Ttl));
    }

    [Fact]
    public void TryTake_HundredThousandDevicesWithAKeyEach_NearlyAllFindAPlace()
    {
        const int Devices = 100_000;
        var keys = new FcmCollapseKeys(_time);

        Assert.InRange(Take(), Devices * 99 / 100, Devices);

        // Again with the same keys, and once they are over with others.
        Assert.InRange(Take(), Devices * 99 / 100, Devices);
        _time.Advance(Ttl + TimeSpan.FromSeconds(2));
        Assert.InRange(Take(), Devices * 99 / 100, Devices);

        int Take() => Enumerable.Range(0, Devices).Count(i => keys.TryTake($"phone-{i}", $"chat-{i}-{_time.GetTimestamp()}", Ttl));
    }

    [Fact]
    public void TryTake_FifthKeyAmongManyDevices_RefusedAsAlone()
    {
        var keys = new FcmCollapseKeys(_time);
        var taken = 0;
        for (var device = 0; device < 10_000; device++)
        {
            for (var key = 0; key <= FcmCollapseKeys.Most; key++)
            {
                taken += keys.TryTake($"phone-{device}", $"chat-{device}-{key}", Ttl) ? 1 : 0;
            }
        }

        Assert.InRange(taken, 10_000 * FcmCollapseKeys.Most * 99 / 100, 10_000 * FcmCollapseKeys.Most);
    }

    [Fact]
    public async Task SendAsync_FifthKeyOfADevice_GoesWithoutAndKeepsItsTag()
    {
        await using var fcm = await FcmFixture.StartAsync((_, _) => FcmFixture.Ok(), time: _time);

        // Calls, since they do not wait for the project's pace.
        foreach (var key in new[] { "a", "b", "c", "d", "e", "a" })
        {
            await fcm.SendAsync(Sample.Event(_time, EventClass.Call, notification: new Notification { Title = "Hi" }, ttl: Ttl, collapseKey: key));
        }

        await fcm.SendAsync(Sample.Event(_time, EventClass.Call, notification: new Notification { Title = "Hi" }, ttl: Ttl, collapseKey: "e"), FcmFixture.Address("fid", "fid-2"));

        var android = fcm.Server.Requests.Select(static request => JsonDocument.Parse(request.Body).RootElement.GetProperty("message").GetProperty("android")).ToArray();
        Assert.Equal(["a", "b", "c", "d", null, "a", "e"], android.Select(static one => one.TryGetProperty("collapse_key", out var key) ? key.GetString() : null));
        Assert.Equal(["a", "b", "c", "d", "e", "a", "e"], android.Select(static one => one.GetProperty("notification").GetProperty("tag").GetString()));
    }
}
