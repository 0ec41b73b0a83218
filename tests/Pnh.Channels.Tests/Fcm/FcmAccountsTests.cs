using System.Security.Cryptography;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Fcm;

public sealed class FcmAccountsTests
{
    [Theory]
    [InlineData("not json", "not JSON (expected the service account file from Google)")]
    [InlineData("[]", "not a JSON object")]
    [InlineData("""{"client_email":"a","private_key":"b"}""", "project_id is missing")]
    [InlineData("""{"project_id":"p","client_email":"a","private_key":"b"}""", "private_key is not a PEM RSA private key")]
    [InlineData("""{"project_id":"p","client_email":"a","private_key":"b","token_uri":"http://x"}""", "token_uri is not an https address")]
    public async Task Check_BadFile_SaysWhatIsWrong(string file, string problem)
    {
        await using var host = new ChannelHost(
            new FakeTimeProvider(), new() { ["Apps:demo:Fcm:0:ServiceAccountFile"] = "account.json" }, new() { ["account.json"] = file });

        Assert.Equal($"Pnh:Apps:demo:Fcm:0:ServiceAccountFile: {problem}", Assert.Single(host.Check()));
    }

    [Fact]
    public async Task Check_OneProjectTwice_Refused()
    {
        using var key = RSA.Create(2048);
        await using var host = new ChannelHost(
            new FakeTimeProvider(),
            new() { ["Apps:demo:Fcm:0:ServiceAccountFile"] = "account.json", ["Apps:demo:Fcm:1:ServiceAccountFile"] = "account.json" },
            new() { ["account.json"] = FcmFixture.AccountFile(key, "https://oauth2.googleapis.com/token") });

        Assert.Equal("Pnh:Apps:demo:Fcm:1:ServiceAccountFile: another account of the app has project pnh-test already", Assert.Single(host.Check()));
    }

    [Theory]
    [InlineData("demo", "", "demo/0")]
    [InlineData("demo", "pnh-test", "demo/0")]
    [InlineData("demo", "pnh-other", "demo/1")]
    [InlineData("demo", "pnh-third", null)]
    [InlineData("other", "", null)]
    public async Task FindAccount_TwoProjects_TheNamedOneElseTheFirst(string app, string project, string? expected)
    {
        using var key = RSA.Create(2048);
        var file = FcmFixture.AccountFile(key, "https://oauth2.googleapis.com/token");
        await using var host = new ChannelHost(
            new FakeTimeProvider(),
            new() { ["Apps:demo:Fcm:0:ServiceAccountFile"] = "account.json", ["Apps:demo:Fcm:1:ServiceAccountFile"] = "other.json" },
            new() { ["account.json"] = file, ["other.json"] = file.Replace("pnh-test", "pnh-other", StringComparison.Ordinal) });

        Assert.Empty(host.Check());
        Assert.Equal(expected, host.Channel("fcm").FindAccount(app, FcmFixture.Address() with { Scope = project }));
    }

    [Theory]
    [InlineData("600", "600", null)]
    [InlineData(null, "600000", null)]
    [InlineData("600", "1200", "Pnh:Apps:shop:Fcm:0:MessagesPerMinute: account demo/0 has 600 for the same project, which has one quota")]
    public async Task Pace_TwoAppsOneProject_OneQuota(string? demo, string shop, string? problem)
    {
        using var key = RSA.Create(2048);
        await using var host = new ChannelHost(
            new FakeTimeProvider(),
            new()
            {
                ["Apps:demo:Fcm:0:ServiceAccountFile"] = "account.json",
                ["Apps:demo:Fcm:0:MessagesPerMinute"] = demo,
                ["Apps:shop:Fcm:0:ServiceAccountFile"] = "account.json",
                ["Apps:shop:Fcm:0:MessagesPerMinute"] = shop,
            },
            new() { ["account.json"] = FcmFixture.AccountFile(key, "https://oauth2.googleapis.com/token") });

        Assert.Equal(problem is null ? [] : [problem], host.Check());
        if (problem is null)
        {
            var accounts = host.Services.GetRequiredService<FcmAccounts>();
            Assert.Same(accounts.Get("demo/0").Pace, accounts.Get("shop/0").Pace);
        }
    }
}
