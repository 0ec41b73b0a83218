using System.Text.Json;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Tests.WebPush;

/// <summary>Apple's push service: the third push that shows nothing takes the site's permission away.</summary>
public sealed class AppleRequestTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private const string Clear = """{"id":"e-1","pnh-withdraw":"e-1"}""";
    private const string DataOnly = """{"id":"e-2","data":{"n":1}}""";
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Fact]
    public async Task Message_ThreeThatShowNothing_TheSubscriptionIsGone()
    {
        BrowserCaller push = new(_sandbox);
        long before = _sandbox.Server.Violations[ViolationKind.SilentPushes];

        Assert.Equal(201, await SendAsync(push, Clear));
        Assert.Equal(201, await SendAsync(push, BrowserCaller.Payload));
        Assert.Equal(201, await SendAsync(push, DataOnly));
        Assert.Equal(201, await SendAsync(push, BrowserCaller.Payload));
        Assert.Equal(201, await SendAsync(push, Clear));

        Assert.Equal(410, await SendAsync(push, BrowserCaller.Payload));
        Assert.Equal(3, _sandbox.Server.Violations[ViolationKind.SilentPushes] - before);

        // The permission is this browser's alone, and Chrome knows no such rule.
        Assert.Equal(201, await SendAsync(new BrowserCaller(_sandbox), BrowserCaller.Payload));
        Assert.Equal(201, (await push.SendAsync(push.Encrypt(Clear))).Status);
    }

    [Fact]
    public async Task Control_BrowserSafari_IsApples()
    {
        Assert.Equal(_sandbox.Server.SubscribeToApple("safari").Endpoint.AbsoluteUri, await EndpointAsync("safari"));
        Assert.Equal(_sandbox.Server.SubscribeToApple("ada-mac").Endpoint.AbsoluteUri, await EndpointAsync("ada-mac?service=apple"));
    }

    private async Task<string?> EndpointAsync(string browser)
    {
        Answer answer = await _sandbox.SendAsync(new HttpRequestMessage(HttpMethod.Get, new Uri(_sandbox.Server.FcmAddress, "/sandbox/browsers/" + browser)));
        using JsonDocument subscription = JsonDocument.Parse(answer.Body);
        return subscription.RootElement.GetProperty("endpoint").GetString();
    }

    private async Task<int> SendAsync(BrowserCaller push, string text) =>
        (await push.SendAsync(push.Encrypt(text), endpoint: _sandbox.Server.SubscribeToApple(push.Name).Endpoint)).Status;
}
