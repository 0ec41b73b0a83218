using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox.Tests.WebPush;

public sealed class SubscriptionTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Fact]
    public async Task Subscription_AfterARestart_SameKeysAndStillGood()
    {
        string folder = SandboxUnderTest.NewFolder();
        try
        {
            BrowserSubscription before;
            byte[] body;
            await using (SandboxUnderTest first = await SandboxUnderTest.StartAsync(folder: folder))
            {
                BrowserCaller push = new(first, "ada-laptop");
                before = push.Subscription;
                body = push.Encrypt(BrowserCaller.Payload);
            }

            await using SandboxUnderTest second = await SandboxUnderTest.StartAsync(folder: folder);
            BrowserCaller again = new(second, "ada-laptop");
            Answer answer = await again.SendAsync(body, endpoint: new Uri(second.Server.FcmAddress, before.Endpoint.AbsolutePath));

            Assert.Equal(before with { Endpoint = again.Subscription.Endpoint }, again.Subscription);
            Assert.Equal(201, answer.Status);
            Assert.Equal("Grace", Assert.Single(second.Server.Phones.Find("ada-laptop")!.LockScreen).Title);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public async Task Subscription_InAnotherFolder_OtherKeysAndAnotherEndpoint()
    {
        await using SandboxUnderTest other = await SandboxUnderTest.StartAsync();
        BrowserSubscription here = _sandbox.Server.Subscribe("ada");
        BrowserSubscription there = other.Server.Subscribe("ada");

        Assert.NotEqual(here.P256dh, there.P256dh);
        Assert.NotEqual(here.Auth, there.Auth);
        Assert.NotEqual(here.Endpoint.AbsolutePath, there.Endpoint.AbsolutePath);
    }

    [Theory]
    [InlineData("ada-laptop", true)]
    [InlineData("A.b_9", true)]
    [InlineData("", false)]
    [InlineData("ada laptop", false)]
    [InlineData("ada:laptop", false)]
    [InlineData("ada/laptop", false)]
    [InlineData("ädä", false)]
    public async Task Control_Browser_SubscriptionAsThePageGetsItOrBadRequest(string name, bool good)
    {
        Answer answer = await ControlAsync(HttpMethod.Get, Uri.EscapeDataString(name));

        Assert.Equal(good ? 200 : name.Length == 0 ? 404 : 400, answer.Status);
        if (good)
        {
            BrowserSubscription known = _sandbox.Server.Subscribe(name);
            Assert.Equal(
                $$$"""{"endpoint":"{{{known.Endpoint}}}","expirationTime":null,"keys":{"p256dh":"{{{known.P256dh}}}","auth":"{{{known.Auth}}}"}}""", answer.Body);
            Assert.StartsWith($"{_sandbox.Server.FcmAddress}fcm/send/{name}:", known.Endpoint.AbsoluteUri, StringComparison.Ordinal);
        }
        else
        {
            Assert.Throws<ArgumentException>(() => _sandbox.Server.Subscribe(name));
        }
    }

    [Fact]
    public async Task Control_NameTooLongOrOtherVerb_Refused()
    {
        Assert.Equal(200, (await ControlAsync(HttpMethod.Get, new string('a', 64))).Status);
        Assert.Equal(400, (await ControlAsync(HttpMethod.Get, new string('a', 65))).Status);
        Assert.Equal(405, (await ControlAsync(HttpMethod.Delete, "ada")).Status);
    }

    private Task<Answer> ControlAsync(HttpMethod method, string name) =>
        _sandbox.SendAsync(new HttpRequestMessage(method, new Uri(_sandbox.Server.FcmAddress, "/sandbox/browsers/" + name)));
}
