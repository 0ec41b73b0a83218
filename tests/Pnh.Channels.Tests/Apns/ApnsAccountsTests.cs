using System.Security.Cryptography;
using Pnh.Channels.Tests.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

public sealed class ApnsAccountsTests
{
    [Fact]
    public async Task Check_EverythingWrong_AllErrorsWithTheirKeys()
    {
        await using var host = new ChannelHost(
            new FakeTimeProvider(),
            new()
            {
                ["Apps:demo:Apns:0:TeamId"] = "short",
                ["Apps:demo:Apns:0:KeyFile"] = "/no/such/file.p8",
                ["Apps:demo:Apns:0:Environment"] = "staging",
                ["Apps:demo:Apns:0:BaseAddress"] = "http://localhost",
                ["Apps:demo:Apns:1:TeamId"] = "TEAM123456",
                ["Apps:demo:Apns:1:KeyId"] = "KEY1234567",
                ["Apps:demo:Apns:1:Topic"] = "com.example",
                ["Apps:demo:Apns:1:KeyFile"] = "garbage.p8",
            },
            new() { ["garbage.p8"] = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----" });

        Assert.Equal(
            [
                "Pnh:Apps:demo:Apns:0:BaseAddress: not an https address without a path",
                "Pnh:Apps:demo:Apns:0:Topic: missing",
                "Pnh:Apps:demo:Apns:0:Environment: must be production or sandbox",
                "Pnh:Apps:demo:Apns:0:TeamId: must be 10 letters and digits",
                "Pnh:Apps:demo:Apns:0:KeyId: missing",
                "Pnh:Apps:demo:Apns:0:KeyFile: file not found",
                "Pnh:Apps:demo:Apns:1:KeyFile: not a PEM file with a P-256 private key (the .p8 file from Apple)",
            ],
            host.Check());
        Assert.Null(host.Channel("apns").FindAccount("demo", ApnsFixture.Address()));
    }

    [Fact]
    public async Task Check_SameTopicTwice_Refused()
    {
        var settings = ApnsFixture.Settings(null);
        foreach (var (key, value) in settings.ToArray())
        {
            settings[key.Replace(":0:", ":1:", StringComparison.Ordinal)] = value;
        }

        await using var host = new ChannelHost(new FakeTimeProvider(), settings, Key());

        Assert.Equal("Pnh:Apps:demo:Apns:1:Topic: another account of the app has topic com.example in production already", Assert.Single(host.Check()));
    }

    [Theory]
    [InlineData("demo", "production/com.example", "demo/0")]
    [InlineData("demo", "production/", "demo/0")]
    [InlineData("demo", "sandbox/com.example", null)]
    [InlineData("demo", "production/com.other", null)]
    [InlineData("other", "production/com.example", null)]
    public async Task FindAccount_AppEnvironmentTopic_Exact(string app, string scope, string? expected)
    {
        await using var host = new ChannelHost(new FakeTimeProvider(), ApnsFixture.Settings(null), Key());

        Assert.Empty(host.Check());
        Assert.Equal(expected, host.Channel("apns").FindAccount(app, ApnsFixture.Address() with { Scope = scope }));
    }

    private static Dictionary<string, string> Key()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        return new() { ["key.p8"] = key.ExportPkcs8PrivateKeyPem() };
    }
}
