using System.Text.Json;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>Pushes that a browser shows without a service worker.</summary>
public sealed class DeclarativePushTests : IAsyncLifetime
{
    private const string Browser = "safari";
    private static readonly Notification Hello = new() { Title = "Grace", Body = "Hello" };

    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-declared-").FullName;
    private readonly FakeTimeProvider _time = new();
    private SandboxServer _sandbox = null!;

    public async Task InitializeAsync()
    {
        using var timeout = new CancellationTokenSource(Sample.Limit);
        _sandbox = await SandboxServer.StartAsync(new SandboxOptions { Folder = _folder, ApnsPort = 0, FcmPort = 0, TimeProvider = _time }, timeout.Token);
    }

    public async Task DisposeAsync()
    {
        await _sandbox.DisposeAsync();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task Send_ToSafariOfASite_HasWhatTheBrowserShowsAndWhatAServiceWorkerReads()
    {
        await using var host = Host("https://app.example.com/start");
        var payload = await ShownAsync(host, Sample.Event(_time, notification: Hello, id: "e-1", collapseKey: "chat", overrides: new() { ["webpush"] = """{"navigate":"/chats/7"}""" }));
        Assert.Equal(("Grace", "Hello", "e-1"), (payload.GetProperty("title").GetString(), payload.GetProperty("body").GetString(), payload.GetProperty("id").GetString()));
        Assert.Equal(8030, payload.GetProperty("web_push").GetInt32());
        Assert.Equal(
            """{"title":"Grace","navigate":"https://app.example.com/chats/7","data":{"id":"e-1"},"body":"Hello","tag":"chat"}""", payload.GetProperty("notification").GetRawText());
    }

    [Fact]
    public async Task Send_WithoutASiteOrToChrome_IsAsBefore()
    {
        await using var plain = Host(site: null);
        Assert.False((await ShownAsync(plain, Sample.Event(_time, notification: Hello))).TryGetProperty("web_push", out _));

        await using var host = Host("https://app.example.com/");
        var chrome = WebPushSandboxTests.AddressOf(_sandbox.Subscribe("ada-laptop"));
        Assert.Equal(DeliveryStatus.Accepted, (await WebPushSandboxTests.SendAsync(host, Sample.Delivery(Sample.Event(_time, notification: Hello), chrome))).Status);
        Assert.DoesNotContain("web_push", _sandbox.Phones.Find("ada-laptop")!.LockScreen[0].Payload, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_TooLargeWithThem_GoesWithoutThem()
    {
        await using var host = Host("https://app.example.com/");
        var payload = await ShownAsync(host, Sample.Event(_time, notification: Hello with { Body = new string('x', 2_200) }));
        Assert.Equal(2_200, payload.GetProperty("body").GetString()!.Length);
        Assert.False(payload.TryGetProperty("web_push", out _));
    }

    [Fact]
    public async Task Send_WhatReplacesAnEvent_IsShownByTheBrowserToo()
    {
        await using var host = Host("https://app.example.com/", "Answered elsewhere");
        var accepted = Sample.Event(_time, EventClass.Call, Hello, id: "call-1");
        await ShownAsync(host, accepted);
        await WebPushSandboxTests.SendAsync(host, Sample.Clear(accepted, new Withdrawal("demo", accepted.Id, "answered", _time.GetUtcNow()), Address()));
        var shown = Assert.Single(_sandbox.Phones.Find(Browser)!.LockScreen);
        var notification = JsonDocument.Parse(shown.Payload).RootElement.GetProperty("notification");
        Assert.Equal(("Answered elsewhere", "call-1", true), (notification.GetProperty("title").GetString(), notification.GetProperty("tag").GetString(), notification.GetProperty("silent").GetBoolean()));
        Assert.Equal(0, _sandbox.Violations.Total);
    }

    [Theory]
    [InlineData("http://app.example.com/")]
    [InlineData("/start")]
    public async Task Check_SiteThatIsNoHttpsAddress_IsRefusedWithItsKey(string site)
    {
        var settings = WebPushFixture.Settings();
        settings["Apps:demo:WebPush:0:KeyFile"] = _sandbox.Credentials.VapidKeyFile;
        settings["Apps:demo:WebPush:0:Site"] = site;
        await using var host = new ChannelHost(_time, settings);
        Assert.Contains(host.Check(), static error => error.Contains("Apps:demo:WebPush:0:Site", StringComparison.Ordinal));
    }

    private async Task<JsonElement> ShownAsync(ChannelHost host, Event accepted)
    {
        var result = await WebPushSandboxTests.SendAsync(host, Sample.Delivery(accepted, Address()));
        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        return JsonDocument.Parse(_sandbox.Phones.Find(Browser)!.LockScreen[0].Payload).RootElement;
    }

    private ChannelHost Host(string? site, string? clearText = null) => WebPushSandboxTests.Host(_sandbox, _time, _sandbox.Credentials.VapidKeyFile, clearText: clearText, site: site);

    private PushAddress Address() => WebPushSandboxTests.AddressOf(_sandbox.SubscribeToApple(Browser));
}
