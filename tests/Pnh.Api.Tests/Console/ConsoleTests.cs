using System.Net;
using Pnh.Api.WebConsole;

namespace Pnh.Api.Tests.ConsolePage;

public sealed class ConsoleTests : ConsoleTestBase
{
    [Fact]
    public async Task Link_FirstUse_SignsInAndRedirects_SecondUse_IsRefused()
    {
        var link = Host.Access.CreateLink(Host.Address);
        using var first = await SendAsync(HttpMethod.Get, link.PathAndQuery);
        Assert.Equal(HttpStatusCode.SeeOther, first.StatusCode);
        Assert.Equal("/console", first.Headers.Location!.OriginalString);
        var cookie = first.Headers.GetValues("Set-Cookie").Single();
        Assert.Contains("httponly", cookie, StringComparison.OrdinalIgnoreCase);
        Assert.Contains("samesite=strict", cookie, StringComparison.OrdinalIgnoreCase);

        using var page = await SendAsync(HttpMethod.Get, "/console", cookie: cookie.Split(';')[0]);
        Assert.Equal(HttpStatusCode.OK, page.StatusCode);
        Assert.Contains("id=\"publish-form\"", await page.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        using var second = await SendAsync(HttpMethod.Get, link.PathAndQuery);
        Assert.Equal(HttpStatusCode.Unauthorized, second.StatusCode);
        Assert.False(second.Headers.Contains("Set-Cookie"));
        Assert.Contains("used already", await second.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        using var again = await SendAsync(HttpMethod.Get, link.PathAndQuery, cookie: cookie.Split(';')[0]);
        Assert.Equal(HttpStatusCode.SeeOther, again.StatusCode);
    }

    /// <summary>A redirect that began on another site brings no strict cookie. The page goes on by itself, without a script.</summary>
    [Theory]
    [InlineData("cross-site", "text/html,application/xhtml+xml", true)]
    [InlineData(null, "text/html,application/xhtml+xml", true)]
    [InlineData("none", "text/html,application/xhtml+xml", false)]
    [InlineData("same-site", "text/html,application/xhtml+xml", false)]
    [InlineData(null, "*/*", false)]
    public async Task Link_PerhapsClickedOnAnotherSite_PageGoesOnByItself(string? fetchSite, string? accept, bool expected)
    {
        using var opened = await SendAsync(HttpMethod.Get, Host.Access.CreateLink(Host.Address).PathAndQuery, fetchSite: fetchSite, accept: accept);
        Assert.True(opened.Headers.Contains("Set-Cookie"));
        Assert.Equal(expected ? HttpStatusCode.OK : HttpStatusCode.SeeOther, opened.StatusCode);
        var page = await opened.Content.ReadAsStringAsync();
        Assert.Equal(expected, page.Contains("<meta http-equiv=\"refresh\" content=\"0; url=/console\">", StringComparison.Ordinal));
        if (expected)
        {
            Assert.DoesNotContain("<script", page, StringComparison.Ordinal);
            Assert.True(opened.Headers.CacheControl!.NoStore);
            Assert.StartsWith("default-src 'none';", opened.Headers.GetValues("Content-Security-Policy").Single(), StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(15 * 60, HttpStatusCode.SeeOther)]
    [InlineData((15 * 60) + 1, HttpStatusCode.Unauthorized)]
    public async Task Link_After15Minutes_IsRefused(int seconds, HttpStatusCode expected)
    {
        var link = Host.Access.CreateLink(Host.Address);
        Time.Advance(TimeSpan.FromSeconds(seconds));

        using var answer = await SendAsync(HttpMethod.Get, link.PathAndQuery);
        Assert.Equal((expected, expected == HttpStatusCode.SeeOther), (answer.StatusCode, answer.Headers.Contains("Set-Cookie")));
    }

    [Theory]
    [InlineData("GET", "/console/stream")]
    [InlineData("GET", "/console/users/ada")]
    [InlineData("GET", "/console/failures")]
    [InlineData("POST", "/console/events")]
    [InlineData("GET", "/console/events/e-1")]
    [InlineData("POST", "/console/explain")]
    [InlineData("POST", "/console/token")]
    public async Task Anything_WithoutSession_Is401(string method, string path)
    {
        using var answer = await SendAsync(new HttpMethod(method), path, origin: Origin, body: "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        using var forged = await SendAsync(new HttpMethod(method), path, cookie: "pnh-console=made-up", origin: Origin, body: "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, forged.StatusCode);
        Assert.Null(Host.Hub.LastBody);
    }

    [Theory]
    [InlineData("evil.example", null, null)]
    [InlineData("evil.example:80", null, null)]
    [InlineData(null, "http://evil.example", null)]
    [InlineData(null, "http://localhost:8080", null)]
    [InlineData(null, "null", null)]
    [InlineData(null, null, "cross-site")]
    [InlineData(null, null, "same-site")]
    public async Task Stream_ForeignHostOrOrigin_Is403(string? hostName, string? origin, string? fetchSite)
    {
        var cookie = await SignInAsync();
        using var answer = await SendAsync(HttpMethod.Get, "/console/stream", cookie, origin, hostName: hostName, fetchSite: fetchSite);
        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("http://evil.example")]
    public async Task Post_WithCookieAndWithoutOwnOrigin_Is403(string? origin)
    {
        using var answer = await SendAsync(HttpMethod.Post, "/console/events", await SignInAsync(), origin, "{}");
        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
        Assert.Null(Host.Hub.LastBody);
    }

    [Fact]
    public async Task Post_WithAdminKeyAndNoOrigin_GoesThrough()
    {
        using var answer = await SendAsync(HttpMethod.Post, "/console/events", body: """{"to":{"user":"demo"},"class":"message"}""", key: ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.Accepted, answer.StatusCode);
        Assert.Equal("""{"to":{"user":"demo"},"class":"message"}""", Host.Hub.LastBody);
        Assert.StartsWith("""{"id":"event-""", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Host_UnknownName_IsToldWhereToNameIt()
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console", hostName: "hub.internal:9090");
        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
        Assert.Contains("Pnh:Console:HostNames", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Host_ConfiguredName_IsKnown()
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console/stream", key: ConsoleHost.AdminKey, hostName: "ops.example.com:9090");
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
    }

    [Fact]
    public async Task SignIn_RightAndWrongKey_CookieOrNot()
    {
        using var wrong = await SignInAsync("wrong");
        Assert.Equal(HttpStatusCode.Unauthorized, wrong.StatusCode);
        Assert.False(wrong.Headers.Contains("Set-Cookie"));
        Assert.Contains("no admin key of this hub", await wrong.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        using var page = await SendAsync(HttpMethod.Get, "/console");
        Assert.Matches("<p class=\"error\" role=\"alert\"></p>", await page.Content.ReadAsStringAsync());
        using var right = await SignInAsync(ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.SeeOther, right.StatusCode);
        Assert.True(right.Headers.Contains("Set-Cookie"));
    }

    [Fact]
    public async Task SignIn_ManyWrongKeys_LockNobodyOut()
    {
        for (var i = 0; i < 30; i++)
        {
            (await SignInAsync($"wrong-{i}")).Dispose();
        }

        using var open = await SignInAsync(ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.SeeOther, open.StatusCode);
        using var byKey = await SendAsync(HttpMethod.Post, "/console/token", key: ConsoleHost.AdminKey, body: "{}");
        Assert.Equal(HttpStatusCode.OK, byKey.StatusCode);
    }

    [Fact]
    public async Task Session_AfterTwelveHours_IsOver()
    {
        var cookie = await SignInAsync();
        for (var quarter = 1; quarter < 48; quarter++)
        {
            Time.Advance(TimeSpan.FromMinutes(15));
            (await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}")).Dispose();
        }

        Time.Advance(TimeSpan.FromMinutes(15) - TimeSpan.FromSeconds(1));
        using var late = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.OK, late.StatusCode);
        Time.Advance(TimeSpan.FromSeconds(2));
        using var over = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, over.StatusCode);
    }

    [Fact]
    public async Task SignOut_OwnOrigin_EndsTheSession()
    {
        var cookie = await SignInAsync();
        using var foreign = await SendAsync(HttpMethod.Post, "/console/signout", cookie, "http://evil.example", "", mediaType: "application/x-www-form-urlencoded");
        Assert.Equal(HttpStatusCode.Forbidden, foreign.StatusCode);
        using var before = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.OK, before.StatusCode);

        using var answer = await SendAsync(HttpMethod.Post, "/console/signout", cookie, Origin, "", mediaType: "application/x-www-form-urlencoded");
        Assert.Equal((HttpStatusCode.SeeOther, "/console"), (answer.StatusCode, answer.Headers.Location!.OriginalString));
        Assert.StartsWith("pnh-console=;", answer.Headers.GetValues("Set-Cookie").Single(), StringComparison.Ordinal);
        using var after = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, after.StatusCode);
    }

    [Fact]
    public async Task Session_KeyRevoked_IsOver_AndALinksIsNot()
    {
        using var opened = await SendAsync(HttpMethod.Get, Host.Access.CreateLink(Host.Address).PathAndQuery);
        var byLink = opened.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
        var byKey = await SignInAsync();
        Host.Hub.IsKeyRevoked = true;

        using var refused = await SendAsync(HttpMethod.Post, "/console/token", byKey, Origin, "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, refused.StatusCode);
        using var goesOn = await SendAsync(HttpMethod.Post, "/console/token", byLink, Origin, "{}");
        Assert.Equal(HttpStatusCode.OK, goesOn.StatusCode);
    }

    [Fact]
    public async Task Page_HasStrictPolicyAndETag_AndIs304WhenUnchanged()
    {
        using var first = await SendAsync(HttpMethod.Get, "/console/console.js");
        Assert.Equal(HttpStatusCode.OK, first.StatusCode);
        Assert.Equal("text/javascript", first.Content.Headers.ContentType!.MediaType);
        var policy = first.Headers.GetValues("Content-Security-Policy").Single();
        Assert.StartsWith("default-src 'none'; script-src 'self'; style-src 'self'; img-src", policy, StringComparison.Ordinal);
        Assert.EndsWith($"connect-src 'self' ws://{Host.Address.Host}:{new Uri(Host.Hub.SocketUrl).Port}", policy, StringComparison.Ordinal);
        Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);

        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(Host.Address, "/console/console.js"));
        request.Headers.IfNoneMatch.Add(first.Headers.ETag!);
        using var second = await SendAsync(request);
        Assert.Equal(HttpStatusCode.NotModified, second.StatusCode);
        Assert.Empty(await second.Content.ReadAsByteArrayAsync());
    }

    /// <summary>No inline script or style, nothing from elsewhere, and files that a person can read.</summary>
    [Fact]
    public async Task Page_EveryFile_IsServedSmallAndWithoutForeignAddresses()
    {
        foreach (var path in PageFiles.Assets.Select(name => $"/console/{name}").Append("/console"))
        {
            using var answer = await SendAsync(HttpMethod.Get, path, key: ConsoleHost.AdminKey);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            var text = await answer.Content.ReadAsStringAsync();
            Assert.InRange(text.Split('\n').Length, 10, path.EndsWith("/pnh.js", StringComparison.Ordinal) ? 640 : 300); // the client is one type, with what it imports and its numbers
            Assert.DoesNotMatch("(?:src|href|url\\()\\s*=?[\"']?https?://|style=\"|<script>|innerHTML", text);
        }
    }

    [Fact]
    public async Task Timeline_SignedIn_IsTheEventsOwn()
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console/events/e-1", await SignInAsync());
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.True(answer.Headers.CacheControl!.NoStore);
        Assert.Contains("\"id\":\"e-1\"", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        using var wrong = await SendAsync(HttpMethod.Get, "/console/events/e%201", await SignInAsync());
        Assert.Equal(HttpStatusCode.BadRequest, wrong.StatusCode);
    }

    [Fact]
    public async Task User_SignedIn_IsAnsweredForTheAppThatWasNamed()
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console/users/ada%20b?app=shop", await SignInAsync());
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        Assert.True(answer.Headers.CacheControl!.NoStore);
        Assert.Contains("{\"app\":\"shop\",\"user\":\"ada b\"", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
        using var stranger = await SendAsync(HttpMethod.Get, "/console/users/ada");
        Assert.Equal(HttpStatusCode.Unauthorized, stranger.StatusCode);
    }

    [Fact]
    public async Task Token_WithoutDemoUser_Is404()
    {
        Host.Hub.HasTabUser = false;
        using var answer = await SendAsync(HttpMethod.Post, "/console/token", await SignInAsync(), Origin, "{}");
        Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        Assert.Equal("application/problem+json", answer.Content.Headers.ContentType!.MediaType);
    }

    [Fact]
    public async Task Events_TooLargeOrNoJson_IsRefusedBeforeTheHub()
    {
        var cookie = await SignInAsync();
        using var large = await SendAsync(HttpMethod.Post, "/console/events", cookie, Origin, new string(' ', 65 * 1024));
        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, large.StatusCode);
        using var text = await SendAsync(HttpMethod.Post, "/console/events", cookie, Origin, "{}", mediaType: "text/plain");
        Assert.Equal(HttpStatusCode.UnsupportedMediaType, text.StatusCode);
        Assert.Null(Host.Hub.LastBody);
    }
}
