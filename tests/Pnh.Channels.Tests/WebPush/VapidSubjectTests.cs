using Pnh.Channels.Tests.Http;
using Pnh.Core.Push;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>The contact that Apple refuses and others take.</summary>
public sealed class VapidSubjectTests : SafariFixture
{
    [Theory]
    [InlineData("mailto:ops@example.com", true)]
    [InlineData("mailto:ops+push@mail.example.co.uk", true)]
    [InlineData("https://example.com", true)]
    [InlineData("https://example.com:8443/contact", true)]
    [InlineData("mailto:ops@localhost", false)]
    [InlineData("mailto: ops@example.com", false)]
    [InlineData("mailto:ops@example.com ", false)]
    [InlineData("mailto:", false)]
    [InlineData("mailto:@example.com", false)]
    [InlineData("mailto:ops@example.invalid", false)]
    [InlineData("mailto:ops@box.local", false)]
    [InlineData("mailto:ops@127.0.0.1", false)]
    [InlineData("https://localhost", false)]
    [InlineData("https://localhost:8443/", false)]
    [InlineData("https://push", false)]
    [InlineData("https://10.0.0.1/", false)]
    [InlineData("https://site.INVALID", false)]
    public async Task Subject_AppleTakesIt_OrItIsSaidAndNothingIsSentThere(string subject, bool isTaken)
    {
        await using var host = WebPushSandboxTests.Host(Sandbox, Time, Sandbox.Credentials.VapidKeyFile, subject: subject);
        Assert.Equal(
            isTaken ? [] : ["Pnh:Apps:demo:WebPush:0:Subject: Apple refuses each push with it: it takes mailto: and an address whose domain has a dot, or https: and a public name"],
            host.CheckUse());

        var apples = await SendAsync(host, Sample.Delivery(Sample.Event(Time, notification: Hello), Address()));
        var chromes = await SendAsync(host, Sample.Delivery(Sample.Event(Time, notification: Hello), WebPushSandboxTests.AddressOf(Sandbox.Subscribe("ada-laptop"))));
        Assert.Equal(isTaken ? (DeliveryStatus.Accepted, null) : (DeliveryStatus.Rejected, "subject"), (apples.Status, apples.Reason));
        Assert.Equal(DeliveryStatus.Accepted, chromes.Status);
    }
}
