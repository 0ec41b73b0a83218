using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Phones;
using Pnh.Sandbox.Tests.Fcm;

namespace Pnh.Sandbox.Tests.WebPush;

public sealed class BrowserTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Fact]
    public async Task Message_Shown_OnItsScreenWithTheRawRequest()
    {
        BrowserCaller push = new BrowserCaller(_sandbox).With("Topic", "t");
        byte[] body = push.Encrypt(BrowserCaller.Payload);

        await push.SendAsync(body);

        Phone phone = _sandbox.Server.Phones.Find(push.Name)!;
        Assert.Equal((PhonePlatform.Browser, 1L), (phone.Platform, phone.Received));
        Assert.Equal(
            new ShownNotification("Grace", "Hello", _sandbox.Now, "webpush", "high", "chat-7", "e-1", BrowserCaller.Payload), Assert.Single(phone.LockScreen));
        Assert.Equal(body, Assert.Single(phone.Requests).Body);
    }

    [Fact]
    public async Task Message_SameTag_ReplacedButNotBySameTopic()
    {
        BrowserCaller push = new BrowserCaller(_sandbox).With("Topic", "same");

        await push.SendAsync("""{"id":"1","title":"one","tag":"a"}""");
        await push.SendAsync("""{"id":"2","title":"two","tag":"b"}""");
        await push.SendAsync("""{"id":"3","title":"three","tag":"a"}""");
        await push.SendAsync("""{"id":"4","body":"four"}""");

        Assert.Equal(["", "three", "two"], _sandbox.Server.Phones.Find(push.Name)!.LockScreen.Select(shown => shown.Title));
    }

    [Theory]
    [InlineData("""{"id":"e-2","class":"message","data":{"title":"x"}}""")]
    [InlineData("""{"id":"e-2","data":{"pnh-withdraw":"e-1","withdraw":"e-1"}}""")]
    [InlineData("""{"id":"e-2","withdraw":"e-1"}""")]
    public async Task Message_NothingToShowOrClear_OnlyReceived(string payload)
    {
        BrowserCaller push = new(_sandbox);
        await push.SendAsync();

        await push.SendAsync(payload);

        Phone phone = _sandbox.Server.Phones.Find(push.Name)!;
        Assert.Equal((2L, "e-1"), (phone.Received, Assert.Single(phone.LockScreen).EventId));
        Assert.Empty(phone.Cleared);
    }

    [Theory]
    [InlineData("""{"id":"e-1","pnh-withdraw":"e-1","pnh-reason":"seen"}""", "seen")]
    [InlineData("""{"id":"e-1","pnh-withdraw":"e-1","title":"never shown"}""", null)]
    public async Task Message_Withdraws_ClearedWithItsReason(string payload, string? reason)
    {
        BrowserCaller push = new(_sandbox);
        await push.SendAsync();

        await push.SendAsync(payload);

        Phone phone = _sandbox.Server.Phones.Find(push.Name)!;
        Assert.Empty(phone.LockScreen);
        ClearedNotification cleared = Assert.Single(phone.Cleared);
        Assert.Equal(("e-1", reason), (cleared.Shown.EventId, cleared.Reason));
    }

    [Fact]
    public async Task Message_Unreadable_CreatedCountedAndNeverArrives()
    {
        BrowserCaller push = new(_sandbox);
        byte[] good = push.Encrypt(BrowserCaller.Payload);
        byte[][] bad =
        [
            [],
            good[..102],
            good[..^1],
            [.. good[..^1], (byte)(good[^1] ^ 1)],
            [.. good, 0],
            [.. good[..20], 64, .. good[21..]],
            [.. good[..21], 3, .. good[22..]],
            [.. good[..50], (byte)(good[50] ^ 1), .. good[51..]],
            new BrowserCaller(_sandbox, "somebody-else").Encrypt(BrowserCaller.Payload),
            push.Encrypt(BrowserCaller.Payload, delimiter: 1),
            push.Encrypt(BrowserCaller.Payload, delimiter: 0),
            push.Encrypt(BrowserCaller.Payload, recordSize: 17),
            push.Encrypt(BrowserCaller.Payload, recordSize: 50),
        ];
        long before = _sandbox.Server.Violations[ViolationKind.UnreadableMessages];

        foreach (byte[] body in bad)
        {
            Assert.Equal(201, (await push.SendAsync(body)).Status);
        }

        Assert.Equal(bad.Length, _sandbox.Server.Violations[ViolationKind.UnreadableMessages] - before);
        Assert.Null(_sandbox.Server.Phones.Find(push.Name));
    }

    [Theory]
    [InlineData("")]
    [InlineData("Hello")]
    [InlineData("[1]")]
    [InlineData("""{"title":"a","title":"b"}""")]
    public async Task Message_NoJsonObject_ReceivedAndCounted(string payload)
    {
        BrowserCaller push = new(_sandbox);
        long before = _sandbox.Server.Violations[ViolationKind.UselessPayloads];

        await push.SendAsync(payload);

        Phone phone = _sandbox.Server.Phones.Find(push.Name)!;
        Assert.Equal((1L, 0), (phone.Received, phone.LockScreen.Count));
        Assert.Equal(1, _sandbox.Server.Violations[ViolationKind.UselessPayloads] - before);
    }

    [Fact]
    public async Task Name_OfHexadecimalDigits_ABrowserAllTheSame()
    {
        BrowserCaller push = new(_sandbox, "ADA");
        await push.SendAsync();
        _sandbox.Server.Phones.Name("ADA", "Ada's laptop");
        _sandbox.Server.Phones.Name("cafe", "Another");
        await new BrowserCaller(_sandbox, "cafe").SendAsync();

        Assert.Equal((PhonePlatform.Browser, "Ada's laptop"), Named("ADA"));
        Assert.Equal((PhonePlatform.Browser, "Another"), Named("cafe"));

        (PhonePlatform Platform, string? Name) Named(string address) =>
            _sandbox.Server.Phones.Find(address) is { } phone ? (phone.Platform, phone.Name) : default;
    }

    [Fact]
    public async Task Phones_OfOneName_ABrowserClearsTheAndroidPhone()
    {
        BrowserCaller push = new(_sandbox);
        string token = FcmCaller.NewAddress();
        _sandbox.Server.Phones.Name(push.Name, "Ada's " + token, PhonePlatform.Browser);
        _sandbox.Server.Phones.Name(token, "Ada's " + token);
        await new FcmCaller(_sandbox).SendToAsync(token, """ "notification":{"title":"Grace"},"data":{"pnh-id":"e-1"} """);

        await push.SendAsync("""{"id":"e-1","pnh-withdraw":"e-1"}""");

        Assert.Empty(_sandbox.Server.Phones.Find(token)!.LockScreen);
    }

    [Fact]
    public async Task Control_Phones_PlatformInWords()
    {
        BrowserCaller push = new(_sandbox);
        await push.SendAsync();

        Answer answer = await _sandbox.SendAsync(new HttpRequestMessage(HttpMethod.Get, new Uri(_sandbox.Server.FcmAddress, "/sandbox/phones")));

        Assert.Equal("browser", answer.Json.EnumerateArray().Single(phone => phone.GetProperty("address").GetString() == push.Name).GetProperty("platform").GetString());
        Assert.DoesNotContain("vapid", answer.Body, StringComparison.OrdinalIgnoreCase);
    }
}
