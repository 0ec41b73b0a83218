using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Tests.Apns;
using Pnh.Sandbox.Tests.Fcm;

namespace Pnh.Sandbox.Tests.Phones;

public sealed class PhoneTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;
    private readonly FcmCaller _fcm = new(fixture.Sandbox);

    private SandboxPhones Phones => _sandbox.Server.Phones;

    [Fact]
    public async Task IPhone_Alert_OnItsLockScreenWithTheRawRequest()
    {
        ApnsCaller push = new(_sandbox);
        push.With("apns-collapse-id", "chat-7");

        await push.SendAsync();

        Phone phone = Phones.Find(push.Address)!;
        ShownNotification shown = Assert.Single(phone.LockScreen);
        Assert.Equal(new ShownNotification("Grace", "Hello", _sandbox.Now, "alert", "10", "chat-7", "e-1", ApnsCaller.Payload), shown);
        ReceivedPush request = Assert.Single(phone.Requests);
        Assert.Equal("com.example.demo", request.Header("apns-topic"));
        Assert.StartsWith("bearer ", request.Header("authorization"), StringComparison.Ordinal);
        Assert.Equal(ApnsCaller.Payload, System.Text.Encoding.UTF8.GetString(request.Body.Span));
        Assert.Equal((PhonePlatform.Ios, 1L), (phone.Platform, phone.Received));
    }

    [Fact]
    public async Task IPhone_SameCollapseId_ReplacedOnTop()
    {
        string address = ApnsCaller.NewAddress();

        await PushAsync(address, "one", "chat-1");
        await PushAsync(address, "two", "chat-2");
        await PushAsync(address, "three", "chat-1");
        await PushAsync(address, "four", null);
        await PushAsync(address, "five", null);

        Assert.Equal(["five", "four", "three", "two"], Phones.Find(address)!.LockScreen.Select(shown => shown.Body));
        Assert.Equal(5, Phones.Find(address)!.Received);
    }

    [Fact]
    public async Task IPhone_Background_ReceivedButNotShown()
    {
        string address = ApnsCaller.NewAddress();

        await BackgroundAsync(address, """{"aps":{"content-available":1},"pnh-id":"e-9"}""");

        Assert.Empty(Phones.Find(address)!.LockScreen);
        Assert.Equal(1, Phones.Find(address)!.Received);
    }

    [Theory]
    [InlineData("""{"aps":{"content-available":1},"pnh-withdraw":"e-1"}""")]
    [InlineData("""{"aps":{"content-available":1},"withdraw":"e-1"}""")]
    [InlineData("""{"aps":{"content-available":1},"data":{"withdraw":"e-1"}}""")]
    public async Task IPhone_Withdraw_ClearsTheEvent(string withdraw)
    {
        string address = ApnsCaller.NewAddress();
        await new ApnsCaller(_sandbox) { Address = address }.SendAsync();
        await PushAsync(address, "stays", null);

        await BackgroundAsync(address, withdraw);

        Assert.Equal(["stays"], Phones.Find(address)!.LockScreen.Select(shown => shown.Body));
    }

    [Fact]
    public async Task IPhone_WithdrawByCollapseId_ClearsIt()
    {
        string address = ApnsCaller.NewAddress();
        await PushAsync(address, "one", "chat-1");

        await BackgroundAsync(address, """{"aps":{"content-available":1},"pnh-withdraw":"chat-1"}""");

        Assert.Empty(Phones.Find(address)!.LockScreen);
    }

    [Fact]
    public async Task IPhone_WithdrawWithReason_KeptAmongTheCleared()
    {
        string address = ApnsCaller.NewAddress();
        await new ApnsCaller(_sandbox) { Address = address }.SendAsync();

        await BackgroundAsync(address, """{"aps":{"content-available":1},"pnh-withdraw":"e-1","pnh-reason":"answered"}""");
        await BackgroundAsync(address, """{"aps":{"content-available":1},"pnh-withdraw":"e-1","pnh-reason":"seen"}""");

        Phone phone = Phones.Find(address)!;
        ClearedNotification cleared = Assert.Single(phone.Cleared);
        Assert.Equal(("e-1", "Hello", "answered", _sandbox.Now), (cleared.Shown.EventId, cleared.Shown.Body, cleared.Reason, cleared.At));
        Assert.Empty(phone.LockScreen);
        Assert.Equal(3, phone.Received);
    }

    [Fact]
    public async Task IPhone_AlertThatNamesAWithdrawal_ClearsNothing()
    {
        string address = ApnsCaller.NewAddress();
        await new ApnsCaller(_sandbox) { Address = address }.SendAsync();

        await new ApnsCaller(_sandbox) { Address = address, Body = """{"aps":{"alert":"two"},"pnh-withdraw":"e-1"}""" }.SendAsync();

        Assert.Equal(2, Phones.Find(address)!.LockScreen.Count);
        Assert.Empty(Phones.Find(address)!.Cleared);
    }

    [Theory]
    [InlineData("Ada's iPhone 1", "Ada's iPhone 1", true)]
    [InlineData("Ada's iPhone 2", "Grace's iPhone", false)]
    public async Task IPhone_WithdrawToItsOtherAddress_EndsTheCallOfTheSamePhoneOnly(string ringing, string told, bool clears)
    {
        ApnsCaller call = new(_sandbox) { Body = """{"pnh-id":"call-1"}""" };
        string alertAddress = ApnsCaller.NewAddress();
        Phones.Name(call.Address, ringing);
        Phones.Name(alertAddress, told);
        await call.As("voip", "com.example.demo.voip", "10").SendAsync();

        await BackgroundAsync(alertAddress, """{"aps":{"content-available":1},"pnh-withdraw":"call-1","pnh-reason":"answered"}""");

        Assert.Equal(clears ? 0 : 1, Phones.Find(call.Address)!.LockScreen.Count);
        Assert.Equal(clears ? ["answered"] : [], Phones.Find(call.Address)!.Cleared.Select(cleared => cleared.Reason));
        Assert.Equal(1, Phones.Find(call.Address)!.Received);
    }

    [Fact]
    public async Task IPhone_Voip_ShowsACall()
    {
        ApnsCaller push = new(_sandbox) { Body = """{"caller":"Ada"}""" };

        await push.As("voip", "com.example.demo.voip", "10").SendAsync();

        Assert.Equal("Incoming call", Assert.Single(Phones.Find(push.Address)!.LockScreen).Title);
    }

    [Fact]
    public async Task Android_Notification_AndroidSectionOverrides()
    {
        string address = FcmCaller.NewAddress();

        await _fcm.SendToAsync(address, """
            "notification":{"title":"plain","body":"Hello"},"data":{"pnh-id":"e-2"},
            "android":{"priority":"NORMAL","collapse_key":"k","notification":{"title":"better","tag":"chat-7"}}
            """);

        ShownNotification shown = Assert.Single(Phones.Find(address)!.LockScreen);
        Assert.Equal(("better", "Hello", "NORMAL", "chat-7", "e-2"), (shown.Title, shown.Body, shown.Priority, shown.CollapseId, shown.EventId));
    }

    [Fact]
    public async Task Android_SameTag_Replaced_SameCollapseKey_Not()
    {
        string address = FcmCaller.NewAddress();

        await _fcm.SendToAsync(address, """ "notification":{"body":"one"},"android":{"notification":{"tag":"a"}} """);
        await _fcm.SendToAsync(address, """ "notification":{"body":"two"},"android":{"notification":{"tag":"a"}} """);
        await _fcm.SendToAsync(address, """ "notification":{"body":"three"},"android":{"collapseKey":"b"} """);
        await _fcm.SendToAsync(address, """ "notification":{"body":"four"},"android":{"collapseKey":"b"} """);

        Assert.Equal(["four", "three", "two"], Phones.Find(address)!.LockScreen.Select(shown => shown.Body));
    }

    [Fact]
    public async Task Android_DataWithdraw_ClearsTheEvent()
    {
        string address = FcmCaller.NewAddress();
        await _fcm.SendToAsync(address, """ "notification":{"body":"one"},"data":{"pnh-id":"e-3"} """);

        await _fcm.SendToAsync(address, """ "data":{"pnh-id":"e-3","pnh-withdraw":"e-3","pnh-reason":"seen"} """);

        Assert.Empty(Phones.Find(address)!.LockScreen);
        Assert.Equal("seen", Assert.Single(Phones.Find(address)!.Cleared).Reason);
        Assert.Equal(2, Phones.Find(address)!.Received);
    }

    [Fact]
    public async Task Named_KnownBeforeAndAfterAPush()
    {
        string address = ApnsCaller.NewAddress().ToUpperInvariant();
        List<string> changes = [];
        Phones.Changed += Record;

        Phones.Name(address, "Ada's iPhone");
        await PushAsync(address, "one", null);
        Phones.Changed -= Record;

        Phone phone = Phones.Find(address)!;
        Assert.Equal(("Ada's iPhone", 1L, PhonePlatform.Ios), (phone.Name, phone.Received, phone.Platform));
        Assert.Equal([address.ToLowerInvariant(), address.ToLowerInvariant()], changes);

        void Record(string changed) => changes.Add(changed);
    }

    [Fact]
    public async Task Bounds_OlderFallOff()
    {
        await using SandboxUnderTest small = await SandboxUnderTest.StartAsync(options =>
        {
            options.PhonesKept = 1;
            options.NotificationsKept = 2;
            options.RequestsKept = 1;
        });
        string address = ApnsCaller.NewAddress();

        for (int i = 0; i < 3; i++)
        {
            await new ApnsCaller(small) { Address = address }.SendAsync();
        }

        await new ApnsCaller(small).SendAsync();

        Phone phone = Assert.Single(small.Server.Phones.All);
        Assert.Equal((2, 1, 3L, 1L), (phone.LockScreen.Count, phone.Requests.Count, phone.Received, small.Server.Phones.Overflow));
    }

    private Task<Answer> PushAsync(string address, string body, string? collapseId)
    {
        ApnsCaller push = new(_sandbox) { Address = address, Body = $$$"""{"aps":{"alert":"{{{body}}}"}}""" };
        return collapseId is null ? push.SendAsync() : push.With("apns-collapse-id", collapseId).SendAsync();
    }

    private async Task BackgroundAsync(string address, string body)
    {
        ApnsCaller push = new(_sandbox) { Address = address, Body = body };

        Assert.Equal(200, (await push.As("background", "com.example.demo", "5").SendAsync()).Status);
    }
}
