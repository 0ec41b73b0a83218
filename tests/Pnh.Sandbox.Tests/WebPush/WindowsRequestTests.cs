using System.Text.Json;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Tests.WebPush;

/// <summary>Windows' push service: as strict as Chrome's, and about one header more.</summary>
public sealed class WindowsRequestTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private const string Conflict = "Ttl value conflicts with X-WNS-Cache-Policy.";
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Theory]
    [InlineData("3600", "cache", 201, "received", null)]
    [InlineData("0", "no-cache", 201, "received", null)]
    [InlineData("0", null, 201, "received", null)]
    [InlineData("3600", null, 400, "dropped", Conflict)]
    [InlineData("3600", "no-cache", 400, "dropped", Conflict)]
    [InlineData("0", "cache", 400, "dropped", Conflict)]
    [InlineData("3600", "CACHE", 400, "dropped", Conflict)]
    [InlineData("soon", "cache", 400, "dropped", "TTL must be given once, in seconds.")]
    public async Task Message_ByTtlAndPolicy_HeadersSayWhatBecameOfIt(string ttl, string? policy, int status, string word, string? description)
    {
        BrowserCaller push = new(_sandbox);

        Answer answer = await push.With("TTL", ttl).With("X-WNS-Cache-Policy", policy).SendAsync(push.Encrypt(BrowserCaller.Payload), endpoint: EndpointOf(push));

        Assert.Equal((status, "", word, description), (
            answer.Status, answer.Body, answer.Headers["X-WNS-STATUS"], answer.Headers.GetValueOrDefault("X-WNS-ERROR-DESCRIPTION")));
        Assert.Equal(16, answer.Headers["X-WNS-MSG-ID"].Length);
        Assert.Equal(status == 201 ? 1 : null, _sandbox.Server.Phones.Find(push.Name)?.Received);
    }

    [Theory]
    [InlineData("")]
    [InlineData("?token=ada%3AAAAAAAAAAAAAAAAA")]
    [InlineData("{0}&more=1")]
    [InlineData("{0}&token=x")]
    [InlineData("{0}x")]
    public async Task Endpoint_MadeUp_NotFound(string query)
    {
        BrowserCaller push = new(_sandbox);

        Answer answer = await push.SendAsync([], endpoint: new Uri(_sandbox.Server.FcmAddress, "/w/" + query.Replace("{0}", EndpointOf(push).Query, StringComparison.Ordinal)));

        Assert.Equal((404, "dropped"), (answer.Status, answer.Headers["X-WNS-STATUS"]));
    }

    [Theory]
    [InlineData(ScriptKind.Throttled, 406, "channelthrottled", "Too many messages for this subscription.")]
    [InlineData(ScriptKind.Unregistered, 410, "dropped", "push subscription has unsubscribed or expired.")]
    public async Task Scripted_InItsOwnWords(ScriptKind kind, int status, string word, string description)
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(kind));

        Answer answer = await push.With("X-WNS-Cache-Policy", "cache").SendAsync(push.Encrypt(BrowserCaller.Payload), endpoint: EndpointOf(push));

        Assert.Equal((status, word, description), (answer.Status, answer.Headers["X-WNS-STATUS"], answer.Headers["X-WNS-ERROR-DESCRIPTION"]));
    }

    [Fact]
    public async Task Control_BrowserOfWindows_ItsEndpoint()
    {
        Answer answer = await _sandbox.SendAsync(new HttpRequestMessage(HttpMethod.Get, new Uri(_sandbox.Server.FcmAddress, "/sandbox/browsers/ada-edge?service=wns")));

        using JsonDocument subscription = JsonDocument.Parse(answer.Body);
        Assert.Equal(_sandbox.Server.SubscribeToWindows("ada-edge").Endpoint.AbsoluteUri, subscription.RootElement.GetProperty("endpoint").GetString());
    }

    private Uri EndpointOf(BrowserCaller push) => _sandbox.Server.SubscribeToWindows(push.Name).Endpoint;
}
