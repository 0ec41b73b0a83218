using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Pnh.Api.Bodies;
using Pnh.Api.Routing;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Stores;

namespace Pnh.Api.Tests.Problems;

public sealed class RequestBodyTests : IAsyncLifetime
{
    private const int Limit = 100;
    private ApiHost _host = null!;

    public async Task InitializeAsync() => _host = await ApiHost.StartAsync(static app =>
    {
        app.MapPost("/v1/echo", EchoAsync).AllowAnyone();
        app.MapGet("/v1/full", static string () => throw new StoreUnavailableException("the disk /secret/path is full")).AllowAnyone();
        app.MapGet("/v1/bug", static string () => throw new InvalidOperationException("secret")).AllowAnyone();
    });

    public Task DisposeAsync() => _host.DisposeAsync().AsTask();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(Limit)]
    public async Task ReadAsync_UpToTheLimit_GivesTheBody(int length)
    {
        var body = new string('x', length);
        var answer = await PostAsync(body, "Content-Type: application/json; charset=UTF-8");

        Assert.Equal((200, body), (answer.Status, answer.Body));
    }

    [Fact]
    public async Task ReadAsync_OverTheAnnouncedLength_Is413()
    {
        var answer = await PostAsync(new string('x', Limit + 1), "Content-Type: application/json");

        Assert.Equal(413, answer.Status);
        Assert.Contains("\"code\":\"body-too-large\",\"help\":\"/docs/errors#body-too-large\",\"detail\":\"The limit is 100 bytes.\"", answer.Body, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(10, 200)]
    [InlineData(11, 413)]
    public async Task ReadAsync_ChunksWithoutLength_AreCounted(int chunks, int status)
    {
        var request = new StringBuilder("POST /v1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (var i = 0; i < chunks; i++)
        {
            request.Append("a\r\n0123456789\r\n");
        }

        Assert.Equal(status, (await Wire.SendRawAsync(_host.Public, $"{request}0\r\n\r\n")).Status);
    }

    [Theory]
    [InlineData("Content-Type: text/plain", null)]
    [InlineData("Content-Type: application/jsonx", null)]
    [InlineData("Content-Type: application/json; charset=latin1", null)]
    [InlineData("X: y", null)]
    [InlineData("Content-Type: application/json", "Content-Encoding: br")]
    public async Task ReadAsync_OtherTypes_Are415(string type, string? encoding)
    {
        var answer = await PostAsync("{}", [type, .. encoding is null ? Array.Empty<string>() : [encoding]]);

        Assert.Equal(415, answer.Status);
        Assert.Contains("unsupported-media-type", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Exceptions_BecomeProblemsWithoutTheirText()
    {
        var full = await Wire.GetAsync(_host.Public, "/v1/full");
        var bug = await Wire.GetAsync(_host.Public, "/v1/bug");

        Assert.Equal((503, "5"), (full.Status, full.Header("Retry-After")));
        Assert.Equal(500, bug.Status);
        Assert.Contains("store-unavailable", full.Body, StringComparison.Ordinal);
        Assert.Contains("internal-error", bug.Body, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", full.Body + bug.Body, StringComparison.Ordinal);
    }

    private Task<WireAnswer> PostAsync(string body, params string[] headers) => Wire.SendAsync(_host.Public, "POST", "/v1/echo", headers, body);

    private static async Task EchoAsync(HttpContext context)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limit, context.RequestAborted);
        if (body.Problem is not null)
        {
            await body.Problem.ExecuteAsync(context);
            return;
        }

        context.Response.ContentLength = body.Bytes.Length;
        await context.Response.Body.WriteAsync(body.Bytes);
    }
}
