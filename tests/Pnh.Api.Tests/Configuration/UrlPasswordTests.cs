using Pnh.Api.Configuration;
using Pnh.Api.Tests.Commands;

namespace Pnh.Api.Tests.Configuration;

public sealed class UrlPasswordTests
{
    [Theory]
    [InlineData("https://ada:s3cret@proxy.example.com:8080/x", "https://ada:(hidden)@proxy.example.com:8080/x")]
    [InlineData("https://:s3cret@proxy", "https://:(hidden)@proxy")]
    [InlineData("a http://a:b@c, and http://d:e@f.", "a http://a:(hidden)@c, and http://d:(hidden)@f.")]
    [InlineData("http://a:p@ss@host/", "http://a:(hidden)@host/")]
    [InlineData("http://localhost:8080/a@b", "http://localhost:8080/a@b")]
    [InlineData("http://localhost:8080", "http://localhost:8080")]
    [InlineData("mailto:ops@example.com", "mailto:ops@example.com")]
    public void Hide_Text_ShowsNoPassword(string text, string shown) => Assert.Equal(shown, UrlPassword.Hide(text));

    [Fact]
    public async Task ConfigShowAndComplaints_UrlWithAPassword_DoNotShowIt()
    {
        const string Setting = "--Pnh:Urls=http://ada:s3cret@127.0.0.1:1";
        var shown = await CommandRun.RunAsync("config", "show", Setting);
        Assert.Contains("Pnh:Urls = http://ada:(hidden)@127.0.0.1:1", shown.Out, StringComparison.Ordinal);
        foreach (var command in new[] { "config check", "doctor" })
        {
            var (_, text, complaint) = await CommandRun.RunAsync([.. command.Split(' '), Setting]);
            Assert.DoesNotContain("s3cret", text + complaint, StringComparison.Ordinal);
        }
    }
}
