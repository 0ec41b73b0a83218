using System.Security.Cryptography;

namespace Pnh.Sandbox.Tests.WebPush;

public sealed class WebPushRequestTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Theory]
    [InlineData("2.0")]
    [InlineData("1.1")]
    public async Task Message_Correct_CreatedWithItsAddress(string version)
    {
        BrowserCaller push = new(_sandbox);

        Answer answer = await push.SendAsync(push.Encrypt(BrowserCaller.Payload), version: Version.Parse(version));

        Assert.Equal((201, ""), (answer.Status, answer.Body));
        Assert.StartsWith(new Uri(_sandbox.Server.FcmAddress, "/m/").AbsoluteUri, answer.Headers["Location"], StringComparison.Ordinal);
        Assert.Equal(1, _sandbox.Server.Phones.Find(push.Name)!.Received);
    }

    [Fact]
    public async Task Method_NotPost_MethodNotAllowed()
    {
        BrowserCaller push = new(_sandbox);

        Answer answer = await push.SendAsync(push.Encrypt("{}"), HttpMethod.Put);

        Assert.Equal((405, "POST"), (answer.Status, answer.Headers["Allow"]));
    }

    [Theory]
    [InlineData("ada:AAAAAAAAAAAAAAAA")]
    [InlineData("ada")]
    [InlineData(":")]
    [InlineData("")]
    [InlineData("{0}x")]
    [InlineData("x{0}")]
    [InlineData("{0}/more")]
    [InlineData("{0}?token=1")]
    public async Task Endpoint_MadeUp_NotFound(string id)
    {
        BrowserCaller push = new(_sandbox);
        string own = push.Subscription.Endpoint.AbsolutePath["/fcm/send/".Length..];

        Answer answer = await push.SendAsync([], endpoint: new Uri(_sandbox.Server.FcmAddress, "/fcm/send/" + id.Replace("{0}", own, StringComparison.Ordinal)));

        Assert.Equal(404, answer.Status);
        Assert.StartsWith("A valid push subscription endpoint should be specified", answer.Body, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("TTL", null)]
    [InlineData("TTL", "")]
    [InlineData("TTL", "-1")]
    [InlineData("TTL", "1.5")]
    [InlineData("TTL", "2147483648")]
    [InlineData("Urgency", "urgent")]
    [InlineData("Urgency", "High")]
    [InlineData("Urgency", "low, high")]
    [InlineData("Topic", "chat 7")]
    [InlineData("Topic", "chat+7")]
    [InlineData("Topic", "chat=")]
    [InlineData("Topic", "abcdefghijklmnopqrstuvwxyzABCDEFG")]
    [InlineData("Content-Encoding", null)]
    [InlineData("Content-Encoding", "aesgcm")]
    [InlineData("Content-Encoding", "aes128gcm, gzip")]
    public async Task Header_Wrong_BadRequestThatNamesIt(string header, string? value)
    {
        BrowserCaller push = new BrowserCaller(_sandbox).With(header, value);

        Answer answer = await push.SendAsync();

        Assert.Equal(400, answer.Status);
        Assert.StartsWith(header, answer.Body, StringComparison.Ordinal);
        Assert.Null(_sandbox.Server.Phones.Find(push.Name));
    }

    [Theory]
    [InlineData("TTL", "0")]
    [InlineData("TTL", "2419200")]
    [InlineData("Urgency", null)]
    [InlineData("Urgency", "very-low")]
    [InlineData("Topic", "a")]
    [InlineData("Topic", "abcdefghijklmnopqrstuvwxyz-_0123")]
    public async Task Header_Allowed_Created(string header, string? value) =>
        Assert.Equal(201, (await new BrowserCaller(_sandbox).With(header, value).SendAsync()).Status);

    [Fact]
    public async Task Body_AtAndOverTheLimit_OnlyTheFirstTaken()
    {
        BrowserCaller push = new(_sandbox);
        string text = $$"""{"title":"{{new string('x', 3993 - 12)}}"}""";

        Answer fits = await push.SendAsync(push.Encrypt(text));
        Answer over = await push.SendAsync(push.Encrypt(text + " "));

        Assert.Equal((201, 413), (fits.Status, over.Status));
        Assert.Equal(1, _sandbox.Server.Phones.Find(push.Name)!.Received);
    }

    [Fact]
    public async Task Credential_Missing_Unauthorized()
    {
        Answer answer = await new BrowserCaller(_sandbox).With("Authorization", null).SendAsync();

        Assert.Equal((401, "vapid"), (answer.Status, answer.Headers["WWW-Authenticate"]));
        Assert.Equal("authorization header must be specified.\n", answer.Body);
    }

    [Fact]
    public async Task Credential_OfAnotherKey_ForbiddenInGooglesWords()
    {
        using ECDsa other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        BrowserCaller push = new(_sandbox);

        Answer answer = await push.With("Authorization", push.Vapid(key: other)).SendAsync();

        Assert.Equal(403, answer.Status);
        Assert.Equal(
            "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.\n", answer.Body);
    }

    [Fact]
    public async Task Order_SeveralMistakes_TheFirstCheckAnswers()
    {
        BrowserCaller push = new BrowserCaller(_sandbox).With("TTL", null);
        byte[] large = new byte[5000];

        Assert.Equal(405, (await push.SendAsync(large, HttpMethod.Get, new Uri(_sandbox.Server.FcmAddress, "/fcm/send/x"))).Status);
        Assert.Equal(404, (await push.SendAsync(large, endpoint: new Uri(_sandbox.Server.FcmAddress, "/fcm/send/x"))).Status);
        Assert.Equal(401, (await push.With("Authorization", "vapid").SendAsync(large)).Status);
        Assert.Equal(400, (await push.With("Authorization", push.Vapid()).SendAsync(large)).Status);
        Assert.Equal(413, (await push.With("TTL", "1").SendAsync(large)).Status);
    }
}
