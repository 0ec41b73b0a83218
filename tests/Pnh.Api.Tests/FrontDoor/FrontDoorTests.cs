using System.Collections.Concurrent;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Routing;

namespace Pnh.Api.Tests.FrontDoor;

public sealed class FrontDoorTests
{
    [Fact]
    public async Task Requests_EachListener_ReachOnlyTheirOwnPaths()
    {
        await using var host = await ApiHost.StartAsync(Map);

        Assert.Equal((200, "business"), await GetAsync(host.Public, "/v1/thing"));
        Assert.Equal((200, "ok"), await GetAsync(host.Public, "/healthz"));
        Assert.Equal((200, "ok"), await GetAsync(host.Operations, "/healthz"));
        Assert.Equal((200, "numbers"), await GetAsync(host.Operations, "/metrics"));
        Assert.Equal(404, (await GetAsync(host.Public, "/metrics")).Status);
        Assert.Equal(404, (await GetAsync(host.Operations, "/v1/thing")).Status);
    }

    /// <summary>A Host header must not open the operators' door.</summary>
    [Fact]
    public async Task Requests_HostHeaderOfTheOtherListener_ChangesNothing()
    {
        await using var host = await ApiHost.StartAsync(Map);

        var answer = await Wire.SendRawAsync(host.Public, $"GET /metrics HTTP/1.1\r\nHost: localhost:{host.Operations}\r\nConnection: close\r\n\r\n");
        var absolute = await Wire.GetAsync(host.Public, $"http://localhost:{host.Operations}/metrics");

        Assert.Equal((404, 400), (answer.Status, absolute.Status));
    }

    [Fact]
    public async Task UnknownPath_IsAnsweredAsProblem()
    {
        await using var host = await ApiHost.StartAsync(Map);

        var answer = await Wire.GetAsync(host.Public, "/wp-admin/setup.php");

        Assert.Equal(404, answer.Status);
        Assert.Equal("application/problem+json", answer.Header("Content-Type"));
        Assert.Equal(
            """{"type":"urn:pnh:problem:not-found","title":"Nothing is here","status":404,"code":"not-found","help":"/docs/errors#not-found","detail":"Check the path: letters in the case of the documentation, no empty or dot segments, no slash at the end."}""",
            answer.Body);
    }

    [Fact]
    public async Task WrongVerb_IsAnsweredWithAllow()
    {
        await using var host = await ApiHost.StartAsync(Map);

        var answer = await Wire.SendAsync(host.Public, "DELETE", "/v1/thing");

        Assert.Equal((405, "GET, POST"), (answer.Status, answer.Header("Allow")));
        Assert.Contains("urn:pnh:problem:method-not-allowed", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Head_OnALightPath_HasTheHeadersWithoutTheBody()
    {
        await using var host = await ApiHost.StartAsync(Map);

        var answer = await Wire.SendAsync(host.Public, "HEAD", "/healthz");

        Assert.Equal((200, ""), (answer.Status, answer.Body));
    }

    /// <summary>Every target over a real connection: what the server's own parser does with it must not get round the front door.</summary>
    [Theory]
    [InlineData("/v1/thing?x=/v1/other", 200)]
    [InlineData("/v1/thing/", 404)]
    [InlineData("/v1//thing", 404)]
    [InlineData("/V1/thing", 404)]
    [InlineData("/v1/x/../thing", 404)]
    [InlineData("/v1/x/%2e%2e/thing", 404)]
    [InlineData("/v1/%74hing", 404)]
    [InlineData("http://localhost/v1/thing", 200)]
    [InlineData("http://localhost/v1/thing?a=%5C\\b://h/metrics", 200)]
    [InlineData("http://localhost/v1/%74hing", 404)]
    [InlineData("http://localhost/v1/thing#x", 404)]
    [InlineData("http://localhost#/v1/thing", 404)]
    [InlineData("http://localhost?/v1/thing", 404)]
    [InlineData("http://localhost/v1/x/../thing", 404)]
    [InlineData("http://localhost/v1/thing\t", 404)]
    [InlineData(@"http://localhost\v1\thing", 400)]
    [InlineData(@"http://localhost\metrics?/v1/thing", 400)]
    [InlineData(@"http://localhost\metrics#/v1/thing", 400)]
    [InlineData(@"http:\\localhost\metrics?://h/v1/thing", 400)]
    [InlineData(@"http://localhost/v1/users/x\..\..\..\metrics", 404)]
    [InlineData(@"http://localhost/v1/users/u/devices/d\..\..\..\..\..\metrics", 404)]
    [InlineData("foo:/metrics?://h/v1/thing", 400)]
    [InlineData("http:///v1/thing", 400)]
    [InlineData(@"/v1\thing", 404)]
    [InlineData(@"/v1/users/x\..\..\..\metrics/devices/d", 200)] // an odd name of a user, and routing takes it as that, too
    [InlineData("/v1/users/x%5C..%5C..%5C..%5Cmetrics/devices/d", 200)]
    [InlineData("/v1/users/x%2F..%2F..%2F..%2Fmetrics/devices/d", 200)]
    [InlineData("//metrics", 404)]
    [InlineData("/v1/users/a%2Fb/devices/d", 200)]
    public async Task Targets_OnTheWire_AreDecided(string target, int status)
    {
        await using var host = await ApiHost.StartAsync(Map);

        Assert.Equal(status, (await Wire.GetAsync(host.Public, target)).Status);
    }

    [Theory]
    [InlineData("a%2Fb", "a/b")]
    [InlineData("a%252Fb", "a%2Fb")]
    [InlineData("a%25b", "a%b")]
    [InlineData("Zo%C3%AB", "Zoë")]
    [InlineData("a%3Fb%23", "a?b#")]
    [InlineData("plain", "plain")]
    public async Task PathId_OnTheWire_IsDecodedExactlyOnce(string segment, string user)
    {
        await using var host = await ApiHost.StartAsync(Map);

        Assert.Equal((200, user), await GetAsync(host.Public, $"/v1/users/{segment}/devices/d?q=%2F"));
    }

    /// <summary>
    /// Behind the door stand a counter in the pipeline, a counting service of the endpoint, and a counting log. The first half shows that an
    /// unknown path, a wrong verb and a health check touch none of them; the second that each of them counts.
    /// </summary>
    [Fact]
    public async Task UnknownPath_TouchesNoService()
    {
        var touched = new Touched();
        await using var host = await ApiHost.StartAsync(
            app =>
            {
                app.Use(next => context =>
                {
                    touched.Note("pipeline");
                    return next(context);
                });
                app.MapGet("/v1/thing", static (HttpContext context) => context.RequestServices.GetRequiredService<CountingService>().ToString()!).AllowAnyone();
                app.MapGet("/healthz", static context => context.Response.WriteAsync("ok")).Light();
            },
            builder =>
            {
                builder.Services.AddScoped(_ => new CountingService(touched));
                builder.Logging.SetMinimumLevel(LogLevel.Trace);
                builder.Logging.AddProvider(touched);

                // The program's own settings, which lie beside the tests, keep the framework quiet.
                builder.Logging.AddFilter("Microsoft.AspNetCore.Routing", LogLevel.Trace);

                // The server's own records of connections, hosting's of requests and the host's filter of names come before any middleware.
                builder.Logging.AddFilter("Microsoft.AspNetCore.HostFiltering", LogLevel.None);
                builder.Logging.AddFilter("Microsoft.AspNetCore.Server", LogLevel.None);
                builder.Logging.AddFilter("Microsoft.AspNetCore.Hosting", LogLevel.None);
                builder.Logging.AddFilter("Microsoft.Extensions.Hosting", LogLevel.None);
                builder.Logging.AddFilter("Microsoft.Hosting", LogLevel.None);
            });

        touched.Forget();
        Assert.Equal(404, (await Wire.GetAsync(host.Public, "/v1/unknown", "Authorization: Bearer x.y.z")).Status);
        Assert.Equal(405, (await Wire.SendAsync(host.Public, "PUT", "/v1/thing", ["Authorization: Bearer x.y.z"])).Status);
        Assert.Equal(200, (await Wire.GetAsync(host.Public, "/healthz")).Status);
        Assert.Empty(touched.Names);

        Assert.Equal(200, (await Wire.GetAsync(host.Public, "/v1/thing")).Status);
        Assert.Superset(new HashSet<string> { "log of Microsoft.AspNetCore.Routing.EndpointRoutingMiddleware", "pipeline", "service" }, touched.Names.ToHashSet());
    }

    private static void Map(WebApplication app)
    {
        app.MapGet("/v1/thing", static () => "business").AllowAnyone();
        app.MapPost("/v1/thing", static () => "business").AllowAnyone();
        app.MapGet("/v1/users/{user}/devices/{device}", static (HttpContext context) => PathId.TryRead(context, PathId.User, out var user) ? user : "broken").AllowAnyone();
        app.MapGet("/healthz", static context => context.Response.WriteAsync("ok")).Light();
        app.MapGet("/metrics", static () => "numbers").OnOperations().AllowAnyone();
    }

    private static async Task<(int Status, string Body)> GetAsync(int port, string target)
    {
        var answer = await Wire.GetAsync(port, target);
        return (answer.Status, answer.Header("Transfer-Encoding") is null ? answer.Body : answer.Body.Split("\r\n")[1]);
    }

    private sealed class CountingService
    {
        public CountingService(Touched touched) => touched.Note("service");
    }

    private sealed class Touched : ILoggerProvider
    {
        private readonly ConcurrentDictionary<string, bool> _names = new();

        public IEnumerable<string> Names => _names.Keys.Order(StringComparer.Ordinal);

        public void Note(string name) => _names[name] = true;

        public void Forget() => _names.Clear();

        public ILogger CreateLogger(string categoryName) => new CategoryLog(this, categoryName);

        public void Dispose()
        {
        }
    }

    private sealed class CategoryLog(Touched touched, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            touched.Note($"log of {category}");
    }
}
