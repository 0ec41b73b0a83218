using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Tests.Http;

/// <summary>A request as it came over the wire.</summary>
internal sealed record Received(string Method, string Path, string Protocol, IReadOnlyDictionary<string, string> Headers, byte[] Body, string Connection, string? Certificate = null)
{
    public string Text => Encoding.UTF8.GetString(Body);
}

/// <summary>What to answer. <see cref="Reset"/> ends the stream with that HTTP/2 error code instead; <see cref="Gate"/> is waited for first.</summary>
internal sealed record Reply(int Status, string Body = "", string? RetryAfter = null, Task? Gate = null, int? Reset = null);

/// <summary>
/// A real HTTP/2 over TLS server on a free loopback port that records requests and answers from a script. It knows nothing of APNs or FCM,
/// so it shares no misunderstanding with the channel or the sandbox.
/// </summary>
internal sealed class ProviderStandIn : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly ConcurrentQueue<Received> _received = new();
    private readonly Func<Received, int, Reply> _script;
    private int _count;
    private int _inFlight;
    private int _mostInFlight;

    private ProviderStandIn(WebApplication app, Func<Received, int, Reply> script)
    {
        _app = app;
        _script = script;
    }

    public Uri Address { get; private set; } = null!;

    public IReadOnlyList<Received> Requests => [.. _received];

    public int MostInFlight => Volatile.Read(ref _mostInFlight);

    /// <param name="script">The reply to a request; the number counts requests from 0.</param>
    /// <param name="certificate">The server's; by default one for localhost from <see cref="TestAuthority"/>.</param>
    /// <param name="asksForCertificate">Takes any client certificate and shows its thumbprint in <see cref="Received"/>.</param>
    public static async Task<ProviderStandIn> StartAsync(Func<Received, int, Reply> script, X509Certificate2? certificate = null, bool asksForCertificate = false)
    {
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0, listen =>
        {
            listen.Protocols = HttpProtocols.Http2;
            listen.UseHttps(certificate ?? TestAuthority.Localhost, https =>
            {
                https.ClientCertificateMode = asksForCertificate ? ClientCertificateMode.AllowCertificate : ClientCertificateMode.NoCertificate;
                https.AllowAnyClientCertificate();
            });
        }));
        var app = builder.Build();
        var standIn = new ProviderStandIn(app, script);
        app.Run(standIn.AnswerAsync);
        await app.StartAsync();
        standIn.Address = new Uri($"https://localhost:{new Uri(app.Urls.Single()).Port}");
        return standIn;
    }

    public static Task<ProviderStandIn> StartAsync(int status, string body = "") => StartAsync((_, _) => new Reply(status, body));

    public async ValueTask DisposeAsync()
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        try
        {
            await _app.StopAsync(limit.Token);
        }
        catch (OperationCanceledException)
        {
        }

        await _app.DisposeAsync();
    }

    private async Task AnswerAsync(HttpContext context)
    {
        var now = Interlocked.Increment(ref _inFlight);
        InterlockedMax(now);
        try
        {
            using var body = new MemoryStream();
            await context.Request.Body.CopyToAsync(body, context.RequestAborted);
            var received = new Received(
                context.Request.Method,
                context.Request.Path.Value!,
                context.Request.Protocol,
                context.Request.Headers.ToDictionary(header => header.Key.ToLowerInvariant(), header => header.Value.ToString()),
                body.ToArray(),
                context.Connection.Id,
                context.Connection.ClientCertificate?.Thumbprint);
            _received.Enqueue(received);
            await SendAsync(context, _script(received, Interlocked.Increment(ref _count) - 1));
        }
        finally
        {
            Interlocked.Decrement(ref _inFlight);
        }
    }

    private static async Task SendAsync(HttpContext context, Reply reply)
    {
        if (reply.Gate is not null)
        {
            await reply.Gate.WaitAsync(context.RequestAborted);
        }

        if (reply.Reset is { } code)
        {
            context.Features.GetRequiredFeature<IHttpResetFeature>().Reset(code);
            return;
        }

        context.Response.StatusCode = reply.Status;
        if (reply.RetryAfter is not null)
        {
            context.Response.Headers.RetryAfter = reply.RetryAfter;
        }

        await context.Response.WriteAsync(reply.Body, context.RequestAborted);
    }

    private void InterlockedMax(int now)
    {
        int seen;
        while (now > (seen = Volatile.Read(ref _mostInFlight)) && Interlocked.CompareExchange(ref _mostInFlight, now, seen) != seen)
        {
        }
    }
}
