using System.Net;
using Microsoft.AspNetCore.Http;
using Pnh.Api.Access;
using Pnh.Api.WebConsole;
using Pnh.TestKit;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>One browser has one session: signed in anew, it leaves none behind that nobody can end.</summary>
public sealed class ConsoleSessionTests : ConsoleTestBase
{
    [Fact]
    public async Task SignIn_WithTheCookieOfAnEarlierSession_EndsThatOneAndNoOther()
    {
        var (first, others) = (await SignInAsync(), await SignInAsync());

        using var again = await PostKeyAsync(ConsoleHost.AdminKey, first);

        var second = again.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
        Assert.Equal(
            (HttpStatusCode.Unauthorized, HttpStatusCode.OK, HttpStatusCode.OK),
            (await OpenStreamAsync(first), await OpenStreamAsync(second), await OpenStreamAsync(others)));
    }

    [Fact]
    public async Task Link_WithTheCookieOfAnEarlierSession_EndsThatOne()
    {
        var first = await SignInAsync();

        using var opened = await SendAsync(HttpMethod.Get, Host.Access.CreateLink(Host.Address).PathAndQuery, first);

        var second = opened.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
        Assert.Equal((HttpStatusCode.Unauthorized, HttpStatusCode.OK), (await OpenStreamAsync(first), await OpenStreamAsync(second)));
    }

    [Fact]
    public async Task SignIn_RefusedWithTheCookieOfASession_LeavesItOpen()
    {
        var cookie = await SignInAsync();

        using var wrong = await PostKeyAsync("wrong", cookie);
        using var used = await SendAsync(HttpMethod.Get, "/console?ticket=made-up", cookie);

        Assert.Equal((HttpStatusCode.Unauthorized, HttpStatusCode.SeeOther), (wrong.StatusCode, used.StatusCode));
        Assert.Equal(HttpStatusCode.OK, await OpenStreamAsync(cookie));
    }

    [Fact]
    public async Task Session_ThirtyMinutesWithoutARequest_IsOver()
    {
        var cookie = await SignInAsync();
        for (var i = 0; i < 3; i++)
        {
            Time.Advance(TimeSpan.FromMinutes(29));
            Assert.Equal(HttpStatusCode.OK, await OpenStreamAsync(cookie));
        }

        // What an open stream asks once a second is no request.
        Time.Advance(TimeSpan.FromMinutes(29));
        Assert.True(Host.Access.IsSignedIn(cookie["pnh-console=".Length..], isRequest: false));
        Time.Advance(TimeSpan.FromMinutes(1));
        Assert.Equal(HttpStatusCode.Unauthorized, await OpenStreamAsync(cookie));
    }

    [Fact]
    public void Session_HubStartsAgain_GoesOnUntilItsEnd()
    {
        using var folder = new TemporaryFolder();
        var first = Restart(folder);
        var (cookie, signedOut, idle) = (first.SignIn(ConsoleHost.AdminKey)!, first.SignIn(ConsoleHost.AdminKey)!, first.SignIn(ConsoleHost.AdminKey)!);
        first.SignOut(signedOut);
        Time.Advance(TimeSpan.FromMinutes(20));
        Assert.True(first.IsSignedIn(cookie));
        Time.Advance(TimeSpan.FromMinutes(20));

        var second = Restart(folder);

        Assert.True(second.IsSignedIn(cookie));
        Assert.False(second.IsSignedIn(signedOut));
        Assert.False(second.IsSignedIn(idle));
        Assert.Equal(2, File.ReadAllLines(folder["console.sessions"]).Length); // who signed out stands in it no more
        Assert.DoesNotContain(cookie, File.ReadAllText(folder["console.sessions"]), StringComparison.Ordinal);
        second.SignOut(cookie);
        Assert.False(Restart(folder).IsSignedIn(cookie));
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(folder["console.sessions"]));
        }
    }

    [Theory]
    [InlineData("10.1.2.3", true)]
    [InlineData("hub", true)]
    [InlineData("localhost", true)]
    [InlineData("ops.example.com", true)]
    [InlineData("evil.example", false)]
    [InlineData("", false)]
    public void MayScrape_Host_IsNoStrangersName(string host, bool may) => Assert.Equal(may, Host.Access.MayScrape(new HostString(host)));

    private ConsoleAccess Restart(TemporaryFolder folder) => new(
        new ConsoleAccessOptions { IsAdmin = static key => key == KeyHash.Of(ConsoleHost.AdminKey), SessionsFile = folder["console.sessions"] }, Time);

    private Task<HttpResponseMessage> PostKeyAsync(string key, string cookie) =>
        SendAsync(HttpMethod.Post, "/console/signin", cookie, Origin, $"key={key}", mediaType: "application/x-www-form-urlencoded");

    private async Task<HttpStatusCode> OpenStreamAsync(string cookie)
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console/stream", cookie);
        return answer.StatusCode;
    }
}
