using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Configuration;
using Pnh.Api.Listeners;
using Pnh.Api.Operations;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Server;
using Pnh.Core.Diagnostics;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>What the servers of all roles have in common: limits, listeners, and what each request passes before it is routed.</summary>
internal static class NodeServer
{
    // A slow client must not hold a request's memory for long; a back-end on the same network sends its headers at once.
    private static readonly TimeSpan HeadersTimeout = TimeSpan.FromSeconds(10);

    // Batches lift it for themselves; every other body is small.
    private const long RequestBodyBytes = 1024 * 1024;

    // What follows the sockets: requests under way, lanes, links.
    private static readonly TimeSpan StopAfterDrain = TimeSpan.FromSeconds(28);

    /// <summary>Over how long a node that is alone sends its clients away.</summary>
    public static readonly TimeSpan Drain = TimeSpan.FromSeconds(2);

    /// <summary>Over how long an edge does: their sessions move one after the other.</summary>
    public static readonly TimeSpan EdgeDrain = TimeSpan.FromSeconds(10);

    /// <summary>What <see cref="UseNode"/> needs, and how long the whole stop of the process may take.</summary>
    public static void AddNode(this IServiceCollection services, TimeSpan drain) =>
        services.AddSingleton<ListenerCertificate>().AddSingleton<TokenKeysWatch>().AddHostedService(static provider => provider.GetRequiredService<TokenKeysWatch>()).AddHostedService<HangUp>().AddCors().Configure<HostOptions>(host => host.ShutdownTimeout = drain + StopAfterDrain);

    /// <summary>What metrics say of the sockets. Null = none are held by loops.</summary>
    public static void Export(HubMetrics metrics, WebSocketServer sockets, SocketLoops? loops)
    {
        metrics.RegisterCloses(sockets.Closes);
        if (loops is not null)
        {
            metrics.RegisterConnections(() => loops.Count);
        }
    }

    /// <summary>Of the sessions here. A hub without edges counts the sessions that it decides for: the same.</summary>
    public static void ExportHeld(HubMetrics metrics, WebSocketServer sockets) =>
        metrics.RegisterHeldSessions(() => sockets.CountSessions().Active, () => sockets.CountSessions().Background);

    /// <summary>Deals the descriptors that are free, once everything but the listeners is open.</summary>
    public static void Deal(ConnectionBudgets budgets, CollectorRegistry registry, WebSocketServer sockets)
    {
        budgets.Export(registry);
        sockets.MostConnections = DescriptorPlan.SocketsOf(budgets.Public.Capacity);
    }

    /// <summary>Limits and listeners.</summary>
    public static void Configure(KestrelServerOptions kestrel, PnhOptions options)
    {
        kestrel.AddServerHeader = false;
        kestrel.RequestHeaderEncodingSelector = ContentLengthDigits.For!;
        kestrel.Limits.MaxRequestBodySize = RequestBodyBytes;
        kestrel.Limits.RequestHeadersTimeout = HeadersTimeout;
        kestrel.Limits.MaxRequestHeaderCount = 50;
        kestrel.Limits.MaxRequestHeadersTotalSize = 16 * 1024;
        kestrel.Listen(options);
    }

    /// <summary>What each request passes. Null = nobody may do what operators do.</summary>
    public static void UseNode(this WebApplication app, string? operatorSecret)
    {
        var time = app.Services.GetRequiredService<TimeProvider>();
        var log = app.Services.GetRequiredService<ILogger<ExceptionProblems>>();
        app.Use(KestrelPlace.Watch());
        app.Use(next => new RequestTimes(next, app.Services.GetRequiredService<RequestMetrics>(), time).InvokeAsync);
        app.UseCorsOf(new Origins(app.Services.GetRequiredService<PnhOptions>().Apps.Values));
        app.UseFrontDoor();
        app.Use(next => new ExceptionProblems(next, log, time).InvokeAsync);
        app.Use(WatchedBody.Watch(time));
        app.UseAccessGate(operatorSecret);
        app.Use(static next => new QueryGate(next).InvokeAsync);
        app.Use(CountedUpgrade.Watch());
        app.UseWebSockets();
    }
}
