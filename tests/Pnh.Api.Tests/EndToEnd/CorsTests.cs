using System.Net;
using System.Net.WebSockets;
using System.Text;
using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Web pages of other origins: what they may read, and whose sockets they may open.</summary>
public sealed class CorsTests
{
    private const string Page = "https://app.example.com";
    private const string Stranger = "https://evil.example";
    private static readonly string[] Origins = [$"--Pnh:Apps:demo:Origins={Page};http://localhost:5173"];

    [Theory]
    [InlineData(Page, true)]
    [InlineData("http://localhost:5173", true)]
    [InlineData(Stranger, false)]
    [InlineData("null", false)]
    public async Task Preflight_ByOrigin_IsAnsweredForTwoHours(string origin, bool isListed)
    {
        await using var hub = await StartAsync(Origins);
        using var answer = await SendAsync(HttpMethod.Options, new Uri(hub.Host.PublicAddress, "/v1/inbox?device=tab"), origin, preflight: "GET");

        Assert.Equal(HttpStatusCode.NoContent, answer.StatusCode);
        Assert.Equal(isListed ? origin : null, Header(answer, "Access-Control-Allow-Origin"));
        Assert.Equal(isListed ? "7200" : null, Header(answer, "Access-Control-Max-Age"));
        Assert.Equal(isListed ? "authorization,content-type" : null, Header(answer, "Access-Control-Allow-Headers"));
        Assert.Null(Header(answer, "Access-Control-Allow-Credentials"));
    }

    [Theory]
    [InlineData(Page, Page)]
    [InlineData(Stranger, null)]
    [InlineData(null, null)]
    public async Task Answers_ByOrigin_MayBeReadByThePage(string? origin, string? allowed)
    {
        await using var hub = await StartAsync(Origins);
        foreach (var (path, status) in new[] { ("/v1/inbox?device=tab", 200), ("/v1/nothing", 404), ("/v1/users/bob/presence", 403) })
        {
            using var answer = await SendAsync(HttpMethod.Get, new Uri(hub.Host.PublicAddress, path), origin, hub.ClientToken("ada"));
            Assert.Equal((path, status, allowed), (path, (int)answer.StatusCode, Header(answer, "Access-Control-Allow-Origin")));
        }
    }

    /// <summary>The path that most events take has no headers of the framework's.</summary>
    [Fact]
    public async Task Post_EventOfAPage_IsTakenWithTheHeader()
    {
        await using var hub = await StartAsync(Origins);
        var body = """{"to":{"user":"ada"},"data":1}""";
        using var answer = await SendAsync(HttpMethod.Post, new Uri(hub.Host.PublicAddress, "/v1/events"), Page, hub.Key, body: body);
        Assert.Equal((HttpStatusCode.Accepted, Page), (answer.StatusCode, Header(answer, "Access-Control-Allow-Origin")));
    }

    [Fact]
    public async Task Answers_OriginsAreAny_MayBeReadByEveryPage()
    {
        await using var hub = await StartAsync("--Pnh:Apps:demo:Origins=*");
        using var answer = await SendAsync(HttpMethod.Get, new Uri(hub.Host.PublicAddress, "/v1/inbox?device=tab"), Stranger, hub.ClientToken("ada"));
        Assert.Equal(Stranger, Header(answer, "Access-Control-Allow-Origin"));
        using var tab = await OpenAsync(hub, Stranger);
        Assert.Equal("welcome", (await HelloAsync(tab, hub)).GetProperty("type").GetString());
    }

    [Theory]
    [InlineData("demo", null)]
    [InlineData("open", Stranger)]
    public async Task Answers_OriginsOfAnotherAppAreAny_MayBeReadOnlyByCallersOfThatApp(string app, string? allowed)
    {
        const string Key = "the key of the app that any page may use";
        await using var hub = await StartAsync([.. Origins, "--Pnh:Apps:open:Origins=*", $"--Pnh:Apps:open:Keys:0:Secret={Key}", "--Pnh:Apps:open:Keys:0:Scopes=read"]);
        using var answer = await SendAsync(HttpMethod.Get, new Uri(hub.Host.PublicAddress, "/v1/events?limit=1"), Stranger, app == "open" ? Key : hub.Key);
        Assert.Equal((HttpStatusCode.OK, allowed), (answer.StatusCode, Header(answer, "Access-Control-Allow-Origin")));
    }

    [Fact]
    public async Task Answers_NoOriginsOrOperationsListener_HaveNoHeader()
    {
        await using var none = await StartAsync();
        using var preflight = await SendAsync(HttpMethod.Options, new Uri(none.Host.PublicAddress, "/v1/inbox"), Page, preflight: "GET");
        using var answer = await SendAsync(HttpMethod.Get, new Uri(none.Host.PublicAddress, "/v1/inbox?device=tab"), Page, none.ClientToken("ada"));
        Assert.Equal((HttpStatusCode.MethodNotAllowed, HttpStatusCode.OK), (preflight.StatusCode, answer.StatusCode));
        Assert.Null(Header(answer, "Access-Control-Allow-Origin"));
        Assert.Null(Header(preflight, "Access-Control-Allow-Origin"));

        await using var hub = await StartAsync(Origins);
        using var metrics = await SendAsync(HttpMethod.Get, new Uri(hub.Host.OperationsAddress, "/metrics"), Page);
        Assert.Equal(HttpStatusCode.OK, metrics.StatusCode);
        Assert.Null(Header(metrics, "Access-Control-Allow-Origin"));
    }

    [Theory]
    [InlineData("Direct", Page, true)]
    [InlineData("Direct", Stranger, false)]
    [InlineData("Direct", null, true)]
    [InlineData("Framework", Page, true)]
    [InlineData("Framework", Stranger, false)]
    [InlineData("Framework", null, true)]
    public async Task Socket_ByOrigin_IsTakenOrRefusedWithTheReason(string transport, string? origin, bool isTaken)
    {
        await using var hub = await StartAsync([$"--Pnh:Sockets:Transport={transport}", .. Origins]);
        using var tab = await OpenAsync(hub, origin);
        var frame = await HelloAsync(tab, hub);

        Assert.Equal(isTaken ? "welcome" : "error", frame.GetProperty("type").GetString());
        if (!isTaken)
        {
            Assert.Equal("other-origin", frame.GetProperty("code").GetString());
            await tab.ReceiveAsync(new byte[1024], CancellationToken.None);
            Assert.Equal(4501, (int)tab.CloseStatus!);
        }
    }

    /// <summary>A page of the hub's own address needs no list; a name that a stranger may have pointed here (DNS rebinding) does.</summary>
    [Theory]
    [InlineData("https://push.example.com", "push.example.com", true)]
    [InlineData("https://push.example.com:443", "push.example.com", true)]
    [InlineData("https://push.example.com", "push.example.com:443", true)]
    [InlineData("https://push.example.com:8443", "push.example.com:8443", true)]
    [InlineData("https://push.example.com:8443", "push.example.com", false)]
    [InlineData("https://push.example.com", "other.example.com", false)]
    [InlineData("http://push.example.com", "push.example.com", false)]
    [InlineData("http://localhost:8080", "localhost:8080", true)]
    [InlineData("http://localhost:3000", "localhost:8080", false)]
    [InlineData("http://10.0.2.2:8080", "10.0.2.2:8080", true)]
    [InlineData("http://[::1]:8080", "[::1]:8080", true)]
    [InlineData("null", "localhost:8080", false)]
    public async Task Socket_OriginOfTheHost_IsTaken(string origin, string host, bool isTaken)
    {
        foreach (var transport in new[] { "Direct", "Framework" })
        {
            await using var hub = await StartAsync([$"--Pnh:Sockets:Transport={transport}", .. Origins]);
            using var tab = await OpenAsync(hub, origin, host);
            Assert.Equal((transport, isTaken ? "welcome" : "error"), (transport, (await HelloAsync(tab, hub)).GetProperty("type").GetString()));
        }
    }

    [Theory]
    [InlineData("https://*.example.com", "https://a.example.com", true)]
    [InlineData("https://*.example.com", "https://a.b.example.com", true)]
    [InlineData("https://*.example.com", "https://example.com", false)]
    [InlineData("https://*.example.com", "https://.example.com", false)]
    [InlineData("https://*.example.com", "https://evilexample.com", false)]
    [InlineData("https://*.example.com", "http://a.example.com", false)]
    [InlineData("https://*.example.com", "https://a.example.com:8443", false)]
    [InlineData("https://*.example.com", "https://a.example.com.evil.example", false)]
    [InlineData("http://*.localhost:5173", "http://shop.localhost:5173", true)]
    [InlineData("capacitor://localhost", "capacitor://localhost", true)]
    [InlineData("capacitor://localhost", "ionic://localhost", false)]
    [InlineData("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop", true)]
    [InlineData("file://", "file://", true)]
    [InlineData("null", "null", true)]
    [InlineData("https://app.example.com", "null", false)]
    public async Task Page_ByTheFormOfAListedOrigin_MayOrMayNot(string listed, string origin, bool isTaken)
    {
        await using var hub = await StartAsync($"--Pnh:Apps:demo:Origins={listed}");
        using var answer = await SendAsync(HttpMethod.Get, new Uri(hub.Host.PublicAddress, "/v1/inbox?device=tab"), origin, hub.ClientToken("ada"));
        Assert.Equal(isTaken ? origin : null, Header(answer, "Access-Control-Allow-Origin"));
        using var tab = await OpenAsync(hub, origin);
        Assert.Equal(isTaken ? "welcome" : "error", (await HelloAsync(tab, hub)).GetProperty("type").GetString());
    }

    /// <summary>Two apps whose lists overlap: each takes its own pages.</summary>
    [Fact]
    public async Task Socket_WildcardOfAnotherApp_IsNoneOfThisOne()
    {
        await using var hub = await StartAsync(
            [.. Origins, "--Pnh:Apps:open:Origins=https://*.example", "--Pnh:Apps:open:Keys:0:Secret=the key of the app with a wildcard", "--Pnh:Apps:open:Keys:0:Scopes=read"]);
        using var tab = await OpenAsync(hub, Stranger);
        Assert.Equal("other-origin", (await HelloAsync(tab, hub)).GetProperty("code").GetString());
    }

    [Theory]
    [InlineData("app.example.com")]
    [InlineData("https://app.example.com/")]
    [InlineData("https://app.example.com:443")]
    [InlineData("https://App.example.com")]
    [InlineData("https://*")]
    [InlineData("https://*.")]
    [InlineData("https://a.*.example.com")]
    [InlineData("https://*.*.example.com")]
    [InlineData("https://*.10.0.0.7")]
    [InlineData("*.example.com")]
    [InlineData("capacitor://")]
    [InlineData("capacitor://localhost/")]
    [InlineData("capacitor://*.localhost")]
    [InlineData("Capacitor://localhost")]
    [InlineData("None")]
    public void Origins_OtherForms_AreRefused(string text) => Assert.False(Pnh.Api.Access.Origins.IsOrigin(text));

    [Fact]
    public async Task Socket_NoOrigins_IsOfAnyPage()
    {
        await using var hub = await StartAsync();
        using var tab = await OpenAsync(hub, Stranger);
        Assert.Equal("welcome", (await HelloAsync(tab, hub)).GetProperty("type").GetString());
    }

    private static Task<TestHub> StartAsync(params string[] configuration) => TestHub.StartAsync(null, null,
    [
        $"--Pnh:Apps:demo:Keys:0:Secret={TestHub.ConfiguredKey}", "--Pnh:Apps:demo:Keys:0:Scopes=send register read",
        "--Pnh:Apps:demo:Tokens:Hs256Secret=an HS256 secret of thirty-two bytes and more", .. configuration,
    ]);

    private static async Task<HttpResponseMessage> SendAsync(HttpMethod method, Uri address, string? origin, string? credential = null, string? preflight = null, string? body = null)
    {
        using var client = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(method, address);
        request.Headers.Authorization = credential is null ? null : new("Bearer", credential);
        request.Content = body is null ? null : new StringContent(body, Encoding.UTF8, "application/json");
        if (origin is not null)
        {
            request.Headers.Add("Origin", origin);
        }

        if (preflight is not null)
        {
            request.Headers.Add("Access-Control-Request-Method", preflight);
            request.Headers.Add("Access-Control-Request-Headers", "authorization,content-type");
        }

        return await client.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(30));
    }

    private static string? Header(HttpResponseMessage answer, string name) => answer.Headers.TryGetValues(name, out var values) ? string.Join(',', values) : null;

    private static async Task<ClientWebSocket> OpenAsync(TestHub hub, string? origin, string? host = null)
    {
        var socket = new ClientWebSocket();
        if (host is not null)
        {
            socket.Options.SetRequestHeader("Host", host);
        }

        if (origin is not null)
        {
            socket.Options.SetRequestHeader("Origin", origin);
        }

        await socket.ConnectAsync(new UriBuilder(hub.Host.PublicAddress) { Scheme = "ws", Path = "/v1/socket" }.Uri, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(30));
        return socket;
    }

    private static async Task<JsonElement> HelloAsync(ClientWebSocket socket, TestHub hub)
    {
        var hello = JsonSerializer.SerializeToUtf8Bytes(new { type = "hello", token = hub.ClientToken("ada"), device = "tab-1" });
        await socket.SendAsync(hello, WebSocketMessageType.Text, true, CancellationToken.None);
        var buffer = new byte[4096];
        var received = await socket.ReceiveAsync(buffer, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(30));
        return JsonDocument.Parse(buffer.AsMemory(0, received.Count)).RootElement;
    }
}
