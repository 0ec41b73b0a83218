using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Routing;
using Microsoft.AspNetCore.Routing.Patterns;
using Pnh.Api.Access;
using Pnh.Api.Listeners;
using Pnh.Api.Routing;

namespace Pnh.Api.Tests.FrontDoor;

public sealed class RouteTableTests
{
    private static readonly RouteTable Table = RouteTable.Build(
    [
        Endpoint("/v1/events", "POST"), Endpoint("/v1/events:explain", "POST"), Endpoint("/v1/events/{id}", "GET"), Endpoint("/v1/events/{id}/withdraw", "POST"),
        Endpoint("/v1/users/{user}/devices/{device}", "PUT"), Endpoint("/v1/users/{user}/devices/{device}", "GET"), Endpoint("/v1/devices:export", "GET"),
        Endpoint("/v1/users/me/settings", "GET"), Endpoint("/v1/socket"), Endpoint("/openapi/{name}.json", "GET"),
        Endpoint("/healthz", EndpointPlaceOf(light: true), "GET"), Endpoint("/metrics", EndpointPlaceOf(light: false), "GET"),
        Endpoint("/console/{**file}", EndpointPlaceOf(light: false), "GET"), Endpoint("/", EndpointPlaceOf(light: false), "GET"),
    ]);

    [Theory]
    [InlineData("POST", "/v1/events", RequestKind.Business)]
    [InlineData("GET", "/v1/events", RequestKind.MethodNotAllowed)]
    [InlineData("HEAD", "/v1/events/1", RequestKind.MethodNotAllowed)] // only light endpoints answer HEAD; export and feed would stream into the void
    [InlineData("post", "/v1/events", RequestKind.MethodNotAllowed)]
    [InlineData("OPTIONS", "/v1/events", RequestKind.MethodNotAllowed)]
    [InlineData("POST", "/v1/events:explain", RequestKind.Business)]
    [InlineData("POST", "/v1/events%3Aexplain", RequestKind.NotFound)]
    [InlineData("POST", "/v1/events:explain/", RequestKind.NotFound)]
    [InlineData("POST", "/v1/events:other", RequestKind.NotFound)]
    [InlineData("GET", "/v1/devices:export", RequestKind.Business)]
    [InlineData("POST", "/v1/devices:export", RequestKind.MethodNotAllowed)]
    [InlineData("POST", "/v1/events/", RequestKind.NotFound)]
    [InlineData("POST", "//v1/events", RequestKind.NotFound)]
    [InlineData("POST", "/v1//events", RequestKind.NotFound)]
    [InlineData("POST", "/V1/events", RequestKind.NotFound)]
    [InlineData("POST", "/v1/%65vents", RequestKind.NotFound)]
    [InlineData("POST", "/v1/./events", RequestKind.NotFound)]
    [InlineData("POST", "/v1/x/../events", RequestKind.NotFound)]
    [InlineData("GET", "/v1/events/..", RequestKind.NotFound)]
    [InlineData("GET", "/v1/events/%2E%2e", RequestKind.NotFound)]
    [InlineData("GET", "/v1/events/.%2e", RequestKind.NotFound)]
    [InlineData("GET", "/v1/events/...", RequestKind.Business)]
    [InlineData("GET", "/v1/events/%2e%2e%2e", RequestKind.Business)]
    [InlineData("GET", "/v1/events/a%2Fb", RequestKind.Business)]
    [InlineData("POST", "/v1/events/1/withdraw", RequestKind.Business)]
    [InlineData("POST", "/v1/events//withdraw", RequestKind.NotFound)]
    [InlineData("PUT", "/v1/users/ada/devices/phone-1", RequestKind.Business)]
    [InlineData("DELETE", "/v1/users/ada/devices/phone-1", RequestKind.MethodNotAllowed)]
    [InlineData("PUT", "/v1/users/me/devices/phone-1", RequestKind.Business)] // falls back from the literal "me"
    [InlineData("GET", "/v1/users/me/settings", RequestKind.Business)]
    [InlineData("GET", "/v1/users/ada/settings", RequestKind.NotFound)]
    [InlineData("PATCH", "/v1/socket", RequestKind.Business)]
    [InlineData("GET", "/openapi/v1.json", RequestKind.Business)]
    [InlineData("GET", "/openapi/.json", RequestKind.NotFound)]
    [InlineData("GET", "/healthz", RequestKind.Light)]
    [InlineData("HEAD", "/healthz", RequestKind.Light)]
    [InlineData("POST", "/healthz", RequestKind.MethodNotAllowed)]
    [InlineData("GET", "/healthz/", RequestKind.NotFound)]
    [InlineData("GET", "/metrics", RequestKind.NotFound)]
    [InlineData("GET", "/console/x", RequestKind.NotFound)]
    [InlineData("GET", "/", RequestKind.NotFound)]
    [InlineData("GET", "", RequestKind.NotFound)]
    [InlineData("GET", "*", RequestKind.NotFound)]
    internal void Classify_OnThePublicListener_IsDecided(string method, string path, RequestKind expected) =>
        Assert.Equal(expected, Table.Classify(Listener.Public, method, path, out _));

    [Theory]
    [InlineData("GET", "/metrics", RequestKind.Operations)]
    [InlineData("POST", "/metrics", RequestKind.MethodNotAllowed)]
    [InlineData("GET", "/healthz", RequestKind.Light)]
    [InlineData("GET", "/console", RequestKind.Operations)]
    [InlineData("GET", "/console/css/a.css", RequestKind.Operations)]
    [InlineData("GET", "/console//a.css", RequestKind.NotFound)]
    [InlineData("GET", "/console/", RequestKind.NotFound)]
    [InlineData("GET", "/console/%2e%2e/metrics", RequestKind.NotFound)]
    [InlineData("GET", "/", RequestKind.Operations)]
    [InlineData("POST", "/v1/events", RequestKind.NotFound)]
    internal void Classify_OnTheOperationsListener_IsDecided(string method, string path, RequestKind expected) =>
        Assert.Equal(expected, Table.Classify(Listener.Operations, method, path, out _));

    [Fact]
    public void Classify_WrongVerb_NamesTheRightOnes()
    {
        Table.Classify(Listener.Public, "DELETE", "/v1/users/a/devices/b", out var route);

        Assert.Equal("PUT, GET", route!.Allow);
    }

    [Fact]
    public void Classify_AnyPath_AllocatesNothing()
    {
        string[] targets = ["/wp-admin/setup.php?x=1", "/v1/users/ada/devices/a%2Fb", "/v1/users/ada/devices/a%2Fb/c/d/e", "/", "/metrics", "/v1/events", "http://h/v1/events"];
        Classify(targets, 1_000);

        var before = GC.GetAllocatedBytesForCurrentThread();
        var known = Classify(targets, 1_000);

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.Equal(3_000, known);
    }

    /// <summary>The whole way of an unknown path through the front door, over an <see cref="HttpContext"/> that is used again as the server does.</summary>
    [Theory]
    [InlineData("GET", "/wp-admin/setup.php")]
    [InlineData("DELETE", "/v1/events")]
    public async Task InvokeAsync_UnknownPathOrWrongVerb_AllocatesNothing(string method, string target)
    {
        var door = new Pnh.Api.Routing.FrontDoor(static _ => throw new InvalidOperationException("went on"), Table);
        var context = new DefaultHttpContext();
        var request = context.Features.GetRequiredFeature<IHttpRequestFeature>();
        (request.Method, request.RawTarget) = (method, target);
        await Run(1_000);

        var before = GC.GetAllocatedBytesForCurrentThread();
        var last = Run(1_000);

        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        await last;
        Assert.Equal(method == "GET" ? 404 : 405, context.Response.StatusCode);

        Task Run(int times)
        {
            var task = Task.CompletedTask;
            for (var i = 0; i < times; i++)
            {
                context.Response.StatusCode = 200;
                task = door.InvokeAsync(context);
            }

            return task;
        }
    }

    [Fact]
    public void Build_EndpointWithoutAccessRule_IsRefused()
    {
        var silent = new RouteEndpoint(static _ => Task.CompletedTask, RoutePatternFactory.Parse("/v1/open"), 0, new(), null);

        Assert.Contains("/v1/open", Assert.Throws<InvalidOperationException>(() => RouteTable.Build([silent])).Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/v1/{a}-{b}")]
    [InlineData("/v1/{a?}")]
    public void Build_PatternItCannotMatch_IsRefused(string pattern) =>
        Assert.Throws<InvalidOperationException>(() => RouteTable.Build([Endpoint(pattern, "GET")]));

    [Theory]
    [InlineData("ada", "ada")]
    [InlineData("a%2Fb", "a/b")]
    [InlineData("a%252Fb", "a%2Fb")]
    [InlineData("Zo%C3%AB", "Zoë")]
    [InlineData("%f0%9f%93%b1", "📱")]
    [InlineData("a+b", "a+b")]
    public void TryDecode_ProperSegment_IsDecodedOnce(string segment, string expected)
    {
        Assert.True(PathId.TryDecode(segment, out var text));
        Assert.Equal(expected, text);
    }

    [Theory]
    [InlineData("%")]
    [InlineData("a%2")]
    [InlineData("%zz")]
    [InlineData("%ff")]
    [InlineData("%c0%af")]
    [InlineData("%ed%a0%80")]
    public void TryDecode_BrokenSegment_IsRefused(string segment) => Assert.False(PathId.TryDecode(segment, out _));

    private static int Classify(string[] targets, int times)
    {
        var known = 0;
        for (var i = 0; i < times; i++)
        {
            foreach (var target in targets)
            {
                known += Table.Classify(Listener.Public, "POST", RequestTarget.Path(target), out _) == RequestKind.NotFound ? 0 : 1;
            }
        }

        return known;
    }

    private static EndpointPlace EndpointPlaceOf(bool light) => new(OnPublic: light, OnOperations: true, IsLight: light);

    private static RouteEndpoint Endpoint(string pattern, params string[] methods) => Endpoint(pattern, EndpointPlace.Business, methods);

    private static RouteEndpoint Endpoint(string pattern, EndpointPlace place, params string[] methods)
    {
        var metadata = new List<object> { place, new AccessRule(AccessKind.Anyone, Scope.None) };
        if (methods.Length > 0)
        {
            metadata.Add(new HttpMethodMetadata(methods));
        }

        return new(static _ => Task.CompletedTask, RoutePatternFactory.Parse(pattern), 0, new(metadata), pattern);
    }
}
