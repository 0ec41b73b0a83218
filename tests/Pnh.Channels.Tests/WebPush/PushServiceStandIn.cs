using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Tests.Http;
using Pnh.Sandbox.WebPush;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>A message as the push service and, decrypted, the browser saw it.</summary>
internal sealed record Pushed(string Path, string Protocol, string Ttl, string Urgency, string? Topic, string Authorization, string Text, int BodyBytes);

/// <summary>What to answer; a redirect for <see cref="Location"/> with a 3xx. <see cref="Gate"/> is waited for first.</summary>
internal sealed record Answer(int Status, string Body = "", string? RetryAfter = null, string? Location = null, Task? Gate = null);

/// <summary>
/// The sandbox's checks and browser on a free loopback port, for what the sandbox is not: under other names, in one protocol only, with answers of the test's own.
/// Besides, every header must be as the channel writes it. What is wrong is answered 400 and remembered as a fault.
/// </summary>
internal sealed class PushServiceStandIn : IAsyncDisposable
{
    private static readonly string[] Names = ["authorization", "content-encoding", "content-length", "content-type", "host", "topic", "ttl", "urgency"];

    private readonly WebApplication _app;
    private readonly TimeProvider _time;
    private readonly Func<int, Answer> _script;
    private readonly ConcurrentQueue<Pushed> _pushed = new();
    private readonly ConcurrentQueue<string> _faults = new();
    private int _count;

    private PushServiceStandIn(WebApplication app, TimeProvider time, Func<int, Answer> script)
    {
        _app = app;
        _time = time;
        _script = script;
    }

    public Browser Browser { get; } = Browsers.Create();

    public int Port { get; private set; }

    public IReadOnlyList<Pushed> Messages => [.. _pushed];

    public IReadOnlyList<string> Faults => [.. _faults];

    public static async Task<PushServiceStandIn> StartAsync(
        TimeProvider time, Func<int, Answer> script, HttpProtocols protocols = HttpProtocols.Http1AndHttp2, X509Certificate2? certificate = null)
    {
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen =>
        {
            listen.Protocols = protocols;
            listen.UseHttps(certificate ?? TestAuthority.Localhost);
        }));
        var app = builder.Build();
        var standIn = new PushServiceStandIn(app, time, script);
        app.Run(standIn.AnswerAsync);
        await app.StartAsync();
        standIn.Port = new Uri(app.Urls.Single()).Port;
        return standIn;
    }

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private async Task AnswerAsync(HttpContext context)
    {
        using var body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted);
        try
        {
            _pushed.Enqueue(Read(context.Request, body.ToArray()));
        }
        catch (Exception fault)
        {
            _faults.Enqueue(fault.Message);
            context.Response.StatusCode = StatusCodes.Status400BadRequest;
            return;
        }

        var answer = _script(Interlocked.Increment(ref _count) - 1);
        if (answer.Gate is not null)
        {
            await answer.Gate.WaitAsync(context.RequestAborted);
        }

        context.Response.StatusCode = answer.Status;
        if (answer.RetryAfter is not null)
        {
            context.Response.Headers.RetryAfter = answer.RetryAfter;
        }

        if (answer.Location is not null)
        {
            context.Response.Headers.Location = answer.Location;
        }

        await context.Response.WriteAsync(answer.Body, context.RequestAborted);
    }

    private Pushed Read(HttpRequest request, byte[] body)
    {
        Assert.Equal("POST", request.Method);
        Assert.Equal("", request.QueryString.Value);
        Assert.Empty(request.Headers.Keys.Select(name => name.ToLowerInvariant()).Except(Names));
        Assert.Null(MessageCheck.Check(request.Headers, body.Length)?.Text);
        Assert.Equal("application/octet-stream", Assert.Single(request.Headers.ContentType));
        var ttl = request.Headers["ttl"].ToString();
        Assert.Matches("^(0|[1-9][0-9]{0,6})$", ttl);
        var urgency = Assert.Single(request.Headers["urgency"])!;

        var authorization = Assert.Single(request.Headers.Authorization)!;
        var claims = Vapid.Verify(authorization, _time.GetUtcNow());
        Assert.Equal($"https://{request.Host.Value}", claims.Audience);
        Assert.Equal("mailto:ops@example.com", claims.Subject);
        return new Pushed(
            request.Path.Value!, request.Protocol, ttl, urgency, request.Headers["topic"], authorization, Browser.ReadText(body), body.Length);
    }
}
