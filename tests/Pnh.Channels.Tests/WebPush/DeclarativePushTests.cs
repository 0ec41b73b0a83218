using System.Text.Json;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>Pushes that a browser shows without a service worker.</summary>
public sealed class DeclarativePushTests : SafariFixture
{
    [Fact]
    public async Task Send_ToSafariOfASite_HasWhatTheBrowserShowsAndWhatAServiceWorkerReads()
    {
        await using var host = Host(site: "https://app.example.com/start");
        var payload = await ShownAsync(host, Sample.Event(Time, notification: Hello, id: "e-1", collapseKey: "chat", overrides: new() { ["webpush"] = """{"navigate":"/chats/7"}""" }));
        Assert.Equal(("Grace", "Hello", "e-1"), (payload.GetProperty("title").GetString(), payload.GetProperty("body").GetString(), payload.GetProperty("id").GetString()));
        Assert.Equal(8030, payload.GetProperty("web_push").GetInt32());
        Assert.Equal(
            """{"title":"Grace","navigate":"https://app.example.com/chats/7","data":{"id":"e-1"},"body":"Hello","tag":"chat"}""", payload.GetProperty("notification").GetRawText());
    }

    [Fact]
    public async Task Send_WithALink_OpensItWithAndWithoutAServiceWorker()
    {
        await using var host = Host(site: "https://app.example.com/start");
        var payload = await ShownAsync(host, Sample.Event(Time, notification: Hello with { Link = "https://app.example.com/orders/7", Interruption = Interruption.Passive, Channel = "orders" }));
        Assert.Equal(
            ("https://app.example.com/orders/7", "https://app.example.com/orders/7"),
            (payload.GetProperty("link").GetString(), payload.GetProperty("notification").GetProperty("navigate").GetString()));
        Assert.Equal(("passive", "orders", true), (payload.GetProperty("interruption").GetString(), payload.GetProperty("channel").GetString(), payload.GetProperty("notification").GetProperty("silent").GetBoolean()));
    }

    [Fact]
    public async Task Send_WithoutASiteOrToChrome_IsAsBefore()
    {
        await using var plain = Host();
        Assert.False((await ShownAsync(plain, Sample.Event(Time, notification: Hello))).TryGetProperty("web_push", out _));

        await using var host = Host(site: "https://app.example.com/");
        var chrome = WebPushSandboxTests.AddressOf(Sandbox.Subscribe("ada-laptop"));
        Assert.Equal(DeliveryStatus.Accepted, (await SendAsync(host, Sample.Delivery(Sample.Event(Time, notification: Hello), chrome))).Status);
        Assert.DoesNotContain("web_push", Sandbox.Phones.Find("ada-laptop")!.LockScreen[0].Payload, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_TooLargeWithThem_GoesWithoutThem()
    {
        await using var host = Host(site: "https://app.example.com/");
        var payload = await ShownAsync(host, Sample.Event(Time, notification: Hello with { Body = new string('x', 2_200) }));
        Assert.Equal(2_200, payload.GetProperty("body").GetString()!.Length);
        Assert.False(payload.TryGetProperty("web_push", out _));
    }

    [Fact]
    public async Task Send_WhatReplacesAnEvent_IsShownByTheBrowserToo()
    {
        await using var host = Host("Answered elsewhere", "https://app.example.com/");
        var accepted = Sample.Event(Time, EventClass.Call, Hello, id: "call-1");
        await ShownAsync(host, accepted);
        await SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", Time.GetUtcNow()), Address()));
        var shown = Assert.Single(Sandbox.Phones.Find(Browser)!.LockScreen);
        var notification = JsonDocument.Parse(shown.Payload).RootElement.GetProperty("notification");
        Assert.Equal(("Answered elsewhere", "call-1", true), (notification.GetProperty("title").GetString(), notification.GetProperty("tag").GetString(), notification.GetProperty("silent").GetBoolean()));
        Assert.Equal(0, Sandbox.Violations.Total);
    }

    [Theory]
    [InlineData("http://app.example.com/")]
    [InlineData("/start")]
    public async Task Check_SiteThatIsNoHttpsAddress_IsRefusedWithItsKey(string site)
    {
        Assert.Contains(await CheckAsync("Site", site), static error => error.Contains("Apps:demo:WebPush:0:Site", StringComparison.Ordinal));
    }

    private async Task<JsonElement> ShownAsync(ChannelHost host, Event accepted)
    {
        var result = await SendAsync(host, Sample.Delivery(accepted, Address()));
        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        return JsonDocument.Parse(Sandbox.Phones.Find(Browser)!.LockScreen[0].Payload).RootElement;
    }
}
