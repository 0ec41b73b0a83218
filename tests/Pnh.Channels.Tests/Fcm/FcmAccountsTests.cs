using System.Security.Cryptography;
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
}
