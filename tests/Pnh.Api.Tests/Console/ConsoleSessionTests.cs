using System.Net;

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

    private Task<HttpResponseMessage> PostKeyAsync(string key, string cookie) =>
        SendAsync(HttpMethod.Post, "/console/signin", cookie, Origin, $"key={key}", mediaType: "application/x-www-form-urlencoded");

    private async Task<HttpStatusCode> OpenStreamAsync(string cookie)
    {
        using var answer = await SendAsync(HttpMethod.Get, "/console/stream", cookie);
        return answer.StatusCode;
    }
}
