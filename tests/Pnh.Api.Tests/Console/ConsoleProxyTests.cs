using System.Net;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>What a proxy that ends TLS passes on: http, the Host that the browser asked for, and the browser's Origin.</summary>
public sealed class ConsoleProxyTests : ConsoleTestBase
{
    [Theory]
    [InlineData("ops.example.com", "https://ops.example.com")]
    [InlineData("ops.example.com:9443", "https://ops.example.com:9443")]
    [InlineData("OPS.example.com", "https://ops.example.com")]
    public async Task SignIn_HttpsOriginOfTheHost_GivesASecureCookieThatWorks(string hostName, string origin)
    {
        using var signedIn = await SignInAsync(hostName, origin);
        Assert.Equal(HttpStatusCode.SeeOther, signedIn.StatusCode);
        var cookie = signedIn.Headers.GetValues("Set-Cookie").Single();
        Assert.Contains("; secure", cookie, StringComparison.OrdinalIgnoreCase);

        var body = """{"to":{"user":"demo"},"class":"message"}""";
        using var sent = await SendAsync(HttpMethod.Post, "/console/events", cookie.Split(';')[0], origin, body, hostName: hostName);
        Assert.Equal(HttpStatusCode.Accepted, sent.StatusCode);
    }

    [Theory]
    [InlineData("ops.example.com", "https://ops.example.com:8443")]
    [InlineData("ops.example.com", "https://ops.example.com.evil.example")]
    [InlineData("ops.example.com", "https://evil.example")]
    [InlineData("ops.example.com", "https://")]
    [InlineData("ops.example.com", "wss://ops.example.com")]
    [InlineData("evil.example", "https://evil.example")]
    public async Task SignIn_HttpsOriginOfAnotherHostOrAnUnknownHost_Is403(string hostName, string origin)
    {
        using var refused = await SignInAsync(hostName, origin);
        Assert.Equal((HttpStatusCode.Forbidden, false), (refused.StatusCode, refused.Headers.Contains("Set-Cookie")));
    }

    /// <summary>A browser would drop a Secure cookie that came by http.</summary>
    [Fact]
    public async Task SignIn_HttpOrigin_GivesACookieThatIsNotSecure()
    {
        using var signedIn = await SignInAsync("ops.example.com:9090", "http://ops.example.com:9090");
        Assert.Equal(HttpStatusCode.SeeOther, signedIn.StatusCode);
        Assert.DoesNotContain("secure", signedIn.Headers.GetValues("Set-Cookie").Single(), StringComparison.OrdinalIgnoreCase);
    }

    private Task<HttpResponseMessage> SignInAsync(string hostName, string origin) => SendAsync(
        HttpMethod.Post, "/console/signin", origin: origin, hostName: hostName, body: $"key={ConsoleHost.AdminKey}", mediaType: "application/x-www-form-urlencoded");
}
