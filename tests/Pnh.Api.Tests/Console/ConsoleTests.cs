using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Pnh.Api.ConsolePage;
using Pnh.TestKit;

namespace Pnh.Api.Tests.ConsolePage;

public sealed class ConsoleTests : IAsyncLifetime
{
    private readonly FakeTimeProvider _time = new();
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler { AllowAutoRedirect = false, UseCookies = false });
    private ConsoleHost _host = null!;

    private string Origin => _host.Address.GetLeftPart(UriPartial.Authority);

    public async Task InitializeAsync() => _host = await ConsoleHost.StartAsync(_time);

    public async Task DisposeAsync()
    {
        _http.Dispose();
        await _host.DisposeAsync();
    }

    [Fact]
    public async Task Link_FirstUse_SignsInAndRedirects_SecondUse_IsRefused()
    {
        var link = _host.Access.CreateLink(_host.Address);
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
    }

    [Theory]
    [InlineData("GET", "/console/stream")]
    [InlineData("POST", "/console/events")]
    [InlineData("POST", "/console/explain")]
    [InlineData("POST", "/console/token")]
    public async Task Anything_WithoutSession_Is401(string method, string path)
    {
        using var answer = await SendAsync(new HttpMethod(method), path, origin: Origin, body: "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        using var forged = await SendAsync(new HttpMethod(method), path, cookie: "pnh-console=made-up", origin: Origin, body: "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, forged.StatusCode);
        Assert.Null(_host.Hub.LastBody);
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
        Assert.Null(_host.Hub.LastBody);
    }

    [Fact]
    public async Task Post_WithAdminKeyAndNoOrigin_GoesThrough()
    {
        using var answer = await SendAsync(HttpMethod.Post, "/console/events", body: """{"to":{"user":"demo"},"class":"message"}""", key: ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.Accepted, answer.StatusCode);
        Assert.Equal("""{"to":{"user":"demo"},"class":"message"}""", _host.Hub.LastBody);
        Assert.StartsWith("""{"id":"event-""", await answer.Content.ReadAsStringAsync(), StringComparison.Ordinal);
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
        using var right = await SignInAsync(ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.SeeOther, right.StatusCode);
        Assert.True(right.Headers.Contains("Set-Cookie"));
    }

    [Fact]
    public async Task SignIn_TenWrongKeys_RefusesTheRightOneForAMinute()
    {
        for (var i = 0; i < 10; i++)
        {
            (await SignInAsync($"wrong-{i}")).Dispose();
        }

        using var locked = await SignInAsync(ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.Unauthorized, locked.StatusCode);
        _time.Advance(TimeSpan.FromSeconds(61));
        using var open = await SignInAsync(ConsoleHost.AdminKey);
        Assert.Equal(HttpStatusCode.SeeOther, open.StatusCode);
    }

    [Fact]
    public async Task Session_AfterTwelveHours_IsOver()
    {
        var cookie = await SignInAsync();
        _time.Advance(TimeSpan.FromHours(12) - TimeSpan.FromSeconds(1));
        using var late = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.OK, late.StatusCode);
        _time.Advance(TimeSpan.FromSeconds(2));
        using var over = await SendAsync(HttpMethod.Post, "/console/token", cookie, Origin, "{}");
        Assert.Equal(HttpStatusCode.Unauthorized, over.StatusCode);
    }

    [Fact]
    public async Task Page_HasStrictPolicyAndETag_AndIs304WhenUnchanged()
    {
        using var first = await SendAsync(HttpMethod.Get, "/console/console.js");
        Assert.Equal(HttpStatusCode.OK, first.StatusCode);
        Assert.Equal("text/javascript", first.Content.Headers.ContentType!.MediaType);
        var policy = first.Headers.GetValues("Content-Security-Policy").Single();
        Assert.StartsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws:", policy, StringComparison.Ordinal);
        Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);

        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(_host.Address, "/console/console.js"));
        request.Headers.IfNoneMatch.Add(first.Headers.ETag!);
        using var second = await _http.SendAsync(request, CancellationToken.None);
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
            Assert.InRange(text.Split('\n').Length, 10, 300);
            Assert.DoesNotMatch("(?:src|href|url\\()\\s*=?[\"']?https?://|style=\"|<script>|innerHTML", text);
        }
    }

    [Fact]
    public async Task Stream_TwoViewers_ShareOneSnapshotASecond_AndNoneWithoutViewers()
    {
        var cookie = await SignInAsync();
        using var one = await OpenStreamAsync(cookie);
        using var two = await OpenStreamAsync(cookie);
        Assert.StartsWith("event: snapshot\ndata: {\"version\":\"0.1.0-test\"", await ReadEventAsync(one), StringComparison.Ordinal);
        await ReadEventAsync(two);
        var before = _host.Hub.Snapshots;
        _time.Advance(TimeSpan.FromSeconds(1));
        var text = await ReadEventAsync(one);
        Assert.Equal(text, await ReadEventAsync(two));
        Assert.Equal(before + 1, _host.Hub.Snapshots);

        one.Dispose();
        two.Dispose();
        var idle = await WaitUntilIdleAsync();
        _time.Advance(TimeSpan.FromSeconds(30));
        Assert.Equal(idle, _host.Hub.Snapshots);
    }

    [Fact]
    public async Task Stream_ManySessionsAndLabels_AreBoundedAndSnakeCase()
    {
        _host.Hub.MadeUpSessions = 5_000;
        _host.Hub.CountTroubles();
        using var stream = await OpenStreamAsync(await SignInAsync());
        var text = await ReadEventAsync(stream);
        using var json = JsonDocument.Parse(text[text.IndexOf('{', StringComparison.Ordinal)..]);
        Assert.Equal(5_000, json.RootElement.GetProperty("sessionCount").GetInt32());
        Assert.Equal(ConsoleSnapshot.MaxSessions, json.RootElement.GetProperty("sessions").GetArrayLength());
        var delivery = json.RootElement.GetProperty("totals").GetProperty("deliveries")[0];
        Assert.Equal("address_dead", delivery.GetProperty("status").GetString());
    }

    [Fact]
    public async Task Stream_SnapshotFails_KeepsTheViewerAndGoesOn()
    {
        using var stream = await OpenStreamAsync(await SignInAsync());
        await ReadEventAsync(stream);
        _host.Hub.Fails = true;
        _time.Advance(TimeSpan.FromSeconds(1));
        _host.Hub.Fails = false;
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.StartsWith("event: snapshot", await ReadEventAsync(stream), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Stream_TooManyViewers_Is503_AndStopEndsTheOthers()
    {
        var cookie = await SignInAsync();
        var streams = new List<Stream>();
        for (var i = 0; i < SnapshotFeed.MaxViewers; i++)
        {
            streams.Add(await OpenStreamAsync(cookie));
        }

        using var refused = await SendAsync(HttpMethod.Get, "/console/stream", cookie);
        Assert.Equal(HttpStatusCode.ServiceUnavailable, refused.StatusCode);
        await _host.DisposeAsync().AsTask().WaitAsync(TimeSpan.FromSeconds(5));
        streams.ForEach(static stream => stream.Dispose());
        _host = await ConsoleHost.StartAsync(_time);
    }

    [Fact]
    public async Task Token_WithoutDemoUser_Is404()
    {
        _host.Hub.HasTabUser = false;
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
        Assert.Null(_host.Hub.LastBody);
    }

    private async Task<string> SignInAsync()
    {
        using var answer = await SignInAsync(ConsoleHost.AdminKey);
        return answer.Headers.GetValues("Set-Cookie").Single().Split(';')[0];
    }

    private Task<HttpResponseMessage> SignInAsync(string key) =>
        SendAsync(HttpMethod.Post, "/console/signin", origin: Origin, body: $"key={key}", mediaType: "application/x-www-form-urlencoded");

    private async Task<HttpResponseMessage> SendAsync(
        HttpMethod method, string path, string? cookie = null, string? origin = null, string? body = null, string? key = null,
        string? hostName = null, string? fetchSite = null, string mediaType = "application/json")
    {
        using var request = new HttpRequestMessage(method, new Uri(_host.Address, path));
        request.Headers.Host = hostName;
        Add(request.Headers, "Cookie", cookie);
        Add(request.Headers, "Origin", origin);
        Add(request.Headers, "Sec-Fetch-Site", fetchSite);
        Add(request.Headers, "Authorization", key is null ? null : $"Bearer {key}");
        request.Content = method == HttpMethod.Post ? new StringContent(body ?? "", Encoding.UTF8, mediaType) : null;
        return await _http.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(10));
    }

    private static void Add(HttpRequestHeaders headers, string name, string? value)
    {
        if (value is not null)
        {
            Assert.True(headers.TryAddWithoutValidation(name, value));
        }
    }

    private async Task<Stream> OpenStreamAsync(string cookie)
    {
        var answer = await SendAsync(HttpMethod.Get, "/console/stream", cookie);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        return await answer.Content.ReadAsStreamAsync();
    }

    private static async Task<string> ReadEventAsync(Stream stream)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(10));
        var text = new StringBuilder();
        var buffer = new byte[64 * 1024];
        while (!text.ToString().EndsWith("\n\n", StringComparison.Ordinal))
        {
            var read = await stream.ReadAsync(buffer, limit.Token);
            Assert.True(read > 0, "the stream ended");
            text.Append(Encoding.UTF8.GetString(buffer, 0, read));
        }

        return text.ToString();
    }

    /// <summary>The server notices the end of a connection a moment later: then the clock's steps make no snapshots.</summary>
    private async Task<int> WaitUntilIdleAsync()
    {
        for (var i = 0; i < 100; i++)
        {
            var before = _host.Hub.Snapshots;
            _time.Advance(TimeSpan.FromSeconds(1));
            if (_host.Hub.Snapshots == before)
            {
                return before;
            }

            await Task.Delay(50);
        }

        throw new TimeoutException("The feed still takes snapshots 5 s after the last viewer left.");
    }
}
