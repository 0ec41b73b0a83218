using System.Security.Cryptography;
using Pnh.Channels.Tests.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebPush;

public sealed class WebPushAccountsTests
{
    private static readonly Dictionary<string, string> Files = MakeFiles();

    [Theory]
    [InlineData(null, "https://fcm.googleapis.com/fcm/send/x", "demo/0/fcm.googleapis.com")]
    [InlineData(null, "https://updates.push.services.mozilla.com/wpush/v2/x", "demo/0/updates.push.services.mozilla.com")]
    [InlineData(null, "https://jmt17.google.com/fcm/send/x", "demo/0/jmt17.google.com")]
    [InlineData(null, "https://web.push.apple.com/x", "demo/0/*.push.apple.com")]
    [InlineData(null, "https://wns2-par02p.notify.windows.com/w/?token=x", "demo/0/*.notify.windows.com")]
    [InlineData(null, "https://push.apple.com/x", null)]
    [InlineData(null, "https://evilpush.apple.com/x", null)]
    [InlineData(null, "https://fcm.googleapis.com.evil.net/x", null)]
    [InlineData(null, "https://fcm.googleapis.com./x", null)]
    [InlineData(null, "https://fcm.googleapis.com:444/x", null)]
    [InlineData(null, "https://127.0.0.1/x", null)]
    [InlineData("ntfy.example.net *.up.example.net:8443", "https://ntfy.example.net/x", "demo/0/ntfy.example.net")]
    [InlineData("ntfy.example.net *.up.example.net:8443", "https://a.up.example.net:8443/x", "demo/0/*.up.example.net:8443")]
    [InlineData("ntfy.example.net *.up.example.net:8443", "https://fcm.googleapis.com/x", null)]
    [InlineData("*", "https://any.example.net/x", "demo/0/*")]
    [InlineData("*", "https://any.example.net:8443/x", null)]
    public async Task FindAccount_Endpoint_RouteOfItsPushServiceOrNone(string? hosts, string endpoint, string? route)
    {
        await using var host = Host(WebPushFixture.Settings(hosts));
        var browser = Browsers.Create();

        Assert.Empty(host.Check());
        Assert.Equal(route, host.Channel("webpush").FindAccount("demo", browser.Subscribe(endpoint)));
        Assert.Null(host.Channel("webpush").FindAccount("other", browser.Subscribe(endpoint)));
    }

    [Theory]
    [InlineData(null, "https://fcm.googleapis.com/fcm/send/x", null)]
    [InlineData(null, "https://permanently-removed.invalid/fcm/send/x", "/endpoint endpoint-removed")]
    [InlineData("*", "https://Permanently-Removed.INVALID/fcm/send/x", "/endpoint endpoint-removed")]
    [InlineData(null, "https://push.example.net/x", "/endpoint endpoint-not-allowed")]
    [InlineData(null, "https://fcm.googleapis.com:444/x", "/endpoint endpoint-not-allowed")]
    [InlineData("*", "https://push.example.net/x", null)]
    public async Task CheckAddress_EndpointThatNoPushReaches_IsRefusedWhereTheAppHasAnAccount(string? hosts, string endpoint, string? refusal)
    {
        await using var host = Host(WebPushFixture.Settings(hosts));
        var address = Browsers.Create().Subscribe(endpoint);

        Assert.Equal(refusal, host.Channel("webpush").CheckAddress("demo", address) is { } error ? $"{error.Pointer} {error.Code}" : null);
        Assert.Null(host.Channel("webpush").CheckAddress("other", address));
    }

    [Theory]
    [InlineData("Subject", null, "Subject: missing")]
    [InlineData("Subject", "ops@example.com", "Subject: must be a mailto: or https: address")]
    [InlineData("KeyFile", null, "KeyFile: missing")]
    [InlineData("KeyFile", "nowhere.pem", "KeyFile: file not found")]
    [InlineData("KeyFile", "rsa.pem", "KeyFile: not a PEM file with a P-256 private key")]
    [InlineData("KeyFile", "p384.pem", "KeyFile: not a PEM file with a P-256 private key")]
    [InlineData("KeyFile", "public.pem", "KeyFile: not a PEM file with a P-256 private key")]
    [InlineData("AllowedHosts", "a.net https://b.net/", "AllowedHosts: 'https://b.net/' is not host, host:port, *.suffix or *")]
    [InlineData("AllowedHosts", "a.*.net", "AllowedHosts: 'a.*.net' is not host, host:port, *.suffix or *")]
    [InlineData("AllowLoopback", "yes", "AllowLoopback: must be true or false")]
    public async Task Check_Wrong_NamesTheKey(string key, string? value, string error)
    {
        var settings = WebPushFixture.Settings();
        settings[$"Apps:demo:WebPush:0:{key}"] = value;
        await using var host = Host(settings);

        Assert.Equal(["Pnh:Apps:demo:WebPush:0:" + error], host.Check());
    }

    [Fact]
    public async Task Check_SecondAccountOfAnApp_Refused()
    {
        var settings = WebPushFixture.Settings();
        settings["Apps:demo:WebPush:1:Subject"] = "https://example.com";
        settings["Apps:demo:WebPush:1:KeyFile"] = "vapid.pem";
        await using var host = Host(settings);

        Assert.Equal(["Pnh:Apps:demo:WebPush:1: an app has one Web Push account"], host.Check());
    }

    private static ChannelHost Host(Dictionary<string, string?> settings) => new(new FakeTimeProvider(), settings, Files);

    private static Dictionary<string, string> MakeFiles()
    {
        using var rsa = RSA.Create(2048);
        using var p384 = ECDsa.Create(ECCurve.NamedCurves.nistP384);
        using var p256 = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        return new()
        {
            ["vapid.pem"] = p256.ExportPkcs8PrivateKeyPem(),
            ["rsa.pem"] = rsa.ExportPkcs8PrivateKeyPem(),
            ["p384.pem"] = p384.ExportPkcs8PrivateKeyPem(),
            ["public.pem"] = p256.ExportSubjectPublicKeyInfoPem(),
        };
    }
}
