using Pnh.Sandbox.Phones;

namespace Pnh.Api.Tests.EndToEnd;

public sealed class DemoBrowserTests
{
    [Fact]
    public async Task FirstStart_SubscriptionOfASandboxBrowser_RegisteredAsItIsAndRung()
    {
        await using var hub = await TestHub.StartAsync();
        var sandbox = hub.Host.Start.Sandbox!;
        var device = $$"""{"platform":"web","webpush":{{sandbox.Subscribe("ada-laptop").ToJson()}}}""";

        Assert.Equal(201, (await hub.SendAsync("PUT", "/v1/users/lin/devices/laptop", device)).Status);
        var sent = await hub.SendAsync("POST", "/v1/events", """{"id":"ring-1","to":{"user":"lin"},"class":"call","notification":{"title":"Grace"}}""");
        Assert.Equal(202, sent.Status);
        var rung = await TestHub.EventuallyAsync(() => sandbox.Phones.Find("ada-laptop"), static p => p?.LockScreen.Count == 1);
        Assert.Equal((PhonePlatform.Browser, "ring-1", "high"), (rung!.Platform, rung.LockScreen[0].EventId, rung.LockScreen[0].Priority));

        Assert.Equal(200, (await hub.SendAsync("POST", "/v1/events/ring-1/withdraw", """{"reason":"answered"}""")).Status);
        var cleared = await TestHub.EventuallyAsync(() => sandbox.Phones.Find("ada-laptop"), static p => p?.Cleared.Count == 1);
        Assert.Equal("answered", cleared!.Cleared[0].Reason);
        Assert.Equal(0, sandbox.Violations.Total);
    }
}
