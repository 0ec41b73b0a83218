using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.DirectHttp;
using Pnh.Api.Endpoints;
using Pnh.Api.Listeners;
using Pnh.Api.Operations;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.WebSockets.Server;
using Pnh.Core.Diagnostics;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>One edge: holds sockets for a hub on another node. Has no data, no publishers and no providers.</summary>
internal sealed class EdgeHost : IAsyncDisposable
{
    private readonly WebApplication _app;
    private readonly PnhOptions _options;

    private EdgeHost(WebApplication app, PnhOptions options)
    {
        _app = app;
        _options = options;
    }

    /// <summary>Everything composed; for tests.</summary>
    public IServiceProvider Services => _app.Services;

    /// <summary>The public listener's address, the port resolved. After <see cref="StartAsync"/>.</summary>
    public Uri PublicAddress => NodeAddress.Of(_app, 0);

    /// <summary>The operations listener's address, the port resolved. After <see cref="StartAsync"/>.</summary>
    public Uri OperationsAddress => NodeAddress.Of(_app, _options.Urls.Count);

    /// <summary>True once the process was told to stop.</summary>
    public bool IsStopping => _app.Lifetime.ApplicationStopping.IsCancellationRequested;

    /// <summary>Builds an edge from configuration tokens. Null when the configuration has errors.</summary>
    public static EdgeHost? Build(string[] tokens, ConfigurationErrors errors, Action<WebApplicationBuilder>? configure = null)
    {
        var builder = HubBuilder.Create(tokens);
        var read = PnhConfiguration.Read(builder.Configuration, KnownKeys.Edge(), Environment.CurrentDirectory);
        Check(read);
        if (!read.Errors.None)
        {
            errors.AddAll(read.Errors);
            return null;
        }

        var options = read.Options;
        if (options.Cluster.Apps.Count > 0)
        {
            options = options with { Apps = options.Cluster.Apps.ToDictionary(static app => app, app => options.Apps[app]) };
        }

        builder.Services.AddSingleton(TimeProvider.System);
        configure?.Invoke(builder);
        AddServices(builder.Services, options);
        builder.WebHost.ConfigureKestrel(kestrel => NodeServer.Configure(kestrel, options));
        builder.Services.AddNode(options.DrainWindow ?? NodeServer.EdgeDrain);
        var edge = new EdgeHost(builder.Build(), options);
        edge.Map();
        return edge;
    }

    /// <summary>Opens the listeners and dials the hub. Throws <see cref="IOException"/> when a port is in use.</summary>
    public Task StartAsync(CancellationToken cancellationToken) => _app.StartAsync(cancellationToken);

    /// <summary>Until the process is told to stop; then stops.</summary>
    public Task WaitForShutdownAsync(CancellationToken cancellationToken) => _app.WaitForShutdownAsync(cancellationToken);

    public ValueTask DisposeAsync() => _app.DisposeAsync();

    private static void Check(ConfigurationResult read)
    {
        read.Options.Cluster.CheckHubs(read.Errors);
        if (read.Options.Apps.Count == 0)
        {
            read.Errors.Add("Pnh:Apps", "is missing; an edge needs Pnh:Apps:{app}:Tokens of each app whose clients it takes");
        }

        foreach (var app in read.Options.Cluster.Apps.Where(app => !read.Options.Apps.ContainsKey(app)))
        {
            read.Errors.Add("Pnh:Edge:Apps", $"names an app that is not configured; known here: {string.Join(", ", read.Options.Apps.Keys)}");
        }

        foreach (var app in read.Options.Apps.Values.Where(static app => app.Tokens is null))
        {
            read.Errors.Add($"Pnh:Apps:{app.Name}:Tokens", "is missing; say how tokens of its clients are checked");
        }
    }

    private static void AddServices(IServiceCollection services, PnhOptions options) => services
        .AddSingleton(options)
        .AddSingleton(static _ => Prometheus.Metrics.NewCustomRegistry())
        .AddSingleton(static provider => new RequestMetrics(provider.GetRequiredService<CollectorRegistry>()))
        .AddSingleton(provider => new HubMetrics(provider.GetRequiredService<CollectorRegistry>(), provider.GetRequiredService<TimeProvider>(), options.Apps.Keys))
        .AddSingleton(PublisherKeys.From([]))
        .AddSingleton(provider => new ClientTokens(options.Apps.Values, provider.GetRequiredService<TimeProvider>()))
        .AddSingleton<IClientAuthenticator>(static provider => provider.GetRequiredService<ClientTokens>())
        .AddSingleton(provider => MakeSessions(options, provider.GetRequiredService<TimeProvider>()))
        .AddSingleton(provider => new WebSocketServer(
            provider.GetRequiredService<EdgeSessions>(),
            provider.GetRequiredService<IClientAuthenticator>(),
            provider.GetRequiredService<TimeProvider>(),
            options.Sockets,
            provider.GetRequiredService<ILogger<WebSocketServer>>(),
            ServedBy(provider.GetRequiredService<HubMetrics>())))
        .AddSingleton(provider => Dial(options, provider))
        .AddSingleton(provider => new EdgeReadiness(
            provider.GetRequiredService<EdgeSessions>(), options.Cluster.HubWait, provider.GetRequiredService<TimeProvider>()))
        .AddTransports(options, static provider => new FrontParts(
            null,
            provider.GetRequiredService<PublisherKeys>(),
            provider.GetRequiredService<IClientAuthenticator>(),
            provider.GetRequiredService<WebSocketServer>().Accept,
            provider.GetRequiredService<RequestMetrics>().OfEvents,
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<HttpFront>>()))
        .AddSingleton<SocketEndpoint>()
        .AddHostedService<EdgeService>();

    // What an edge serves is frames: its Q-factor is how many it writes in a second of CPU time.
    private static FrameWritten ServedBy(HubMetrics metrics) => (@class, sinceAccepted) =>
    {
        metrics.AcceptToFrame(@class, sinceAccepted);
        metrics.RequestServed();
    };

    private static EdgeSessions MakeSessions(PnhOptions options, TimeProvider time)
    {
        var turns = new Turns(time);
        return new EdgeSessions([.. Enumerable.Range(0, options.Cluster.Links).Select(_ => new EdgeLink(turns, time))], time);
    }

    private static IReadOnlyList<LinkDialler> Dial(PnhOptions options, IServiceProvider provider)
    {
        var time = provider.GetRequiredService<TimeProvider>();
        var (sockets, metrics) = (provider.GetRequiredService<WebSocketServer>(), provider.GetRequiredService<HubMetrics>());
        var self = LinkHello.OfEdge(options.NodeName, options.Apps.Keys, ProgramVersion.Text, time);
        return [.. Enumerable.Range(0, options.Cluster.Links).Select(place => new LinkDialler(
            options.Cluster.Hubs,
            options.Cluster.Keys[0].Secret,
            self with { Place = place },
            provider.GetRequiredService<EdgeSessions>(),
            options.Cluster.HubWait,
            time,
            provider.GetRequiredService<ILogger<LinkDialler>>(),
            place == 0 ? () => StatusOf(sockets, metrics) : null))];
    }

    private static NodeStatus StatusOf(WebSocketServer sockets, HubMetrics metrics)
    {
        var sessions = sockets.CountSessions();
        return new(sessions.Active, sessions.Background, metrics.Use, sockets.Over);
    }

    private void Map()
    {
        _app.UseNode(operatorSecret: null);
        Services.GetRequiredService<SocketEndpoint>().Map(_app);
        var hosts = new KnownHosts([.. _options.OperationsUrls.Select(static url => url.ToClientUri().Host)]);
        _app.MapOperations(Services.GetRequiredService<EdgeReadiness>().Readiness, Services.GetRequiredService<CollectorRegistry>(), hosts.MayScrape);
    }
}
