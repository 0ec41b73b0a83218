using Microsoft.Extensions.DependencyInjection.Extensions;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.DirectHttp;
using Pnh.Api.Endpoints;
using Pnh.Api.Engines;
using Pnh.Api.FirstStart;
using Pnh.Api.Ingest;
using Pnh.Api.Listeners;
using Pnh.Api.Operations;
using Pnh.Api.WebConsole;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.WebSockets.Server;
using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>The composition: a table of contents of the hub.</summary>
internal static class HubServices
{
    /// <summary>Registers how channels reach their providers.</summary>
    public static void AddTransports(this IServiceCollection services, PnhOptions options) => services.AddSingleton(services => new ConnectionTransports(
        new DirectTransport(services.GetRequiredService<TimeProvider>()), options.LanesTransport.IsDirect, services.GetRequiredService<TimeProvider>()));

    /// <summary>Registers everything that is not a channel.</summary>
    public static IServiceCollection AddHub(this IServiceCollection services, HubStart start) => services
        .AddSingleton(start.Options)
        .AddSingleton(start.Folder)
        .AddClock(start)
        .AddMetrics(start.Options)
        .AddTracing(start.Options)
        .AddStores(start)
        .AddDecisions(start.Options)
        .AddSockets(start.Options)
        .AddLinks(start)
        .AddIngest(start)
        .AddAccess(start.Options)
        .AddEndpoints(start.Options)
        .AddOperatorConsole(start)
        .AddSingleton(MakeReadiness)
        .AddSingleton(provider => new AddressSweep(
            provider.GetRequiredService<IDeviceStore>(),
            provider.GetRequiredService<IEventJournal>(),
            start.Options.Apps.Keys,
            provider.GetRequiredService<HubMetrics>(),
            provider.GetRequiredService<TimeProvider>())
        { Removes = start.Options.Addresses.RemoveStale })
        .AddHostedService<HubService>()
        .AddHostedService<FolderWatch>()
        .AddHostedService<ReadinessWatch>()
        .AddHostedService<ClockWatch>();

    private static Readiness MakeReadiness(IServiceProvider provider)
    {
        var engine = provider.GetRequiredService<IStorageEngine>();
        return new Readiness([.. engine.Parts])
        {
            Memory = provider.GetRequiredService<MemoryGuard>(),
            Refusal = () => engine.Refusal,
        };
    }

    // Unless a test has put one before it.
    private static IServiceCollection AddClock(this IServiceCollection services, HubStart start) =>
        services.Last(static one => one.ServiceType == typeof(TimeProvider)).ImplementationInstance == TimeProvider.System
            ? services.AddSingleton(start.Clock).AddSingleton<TimeProvider>(start.Clock.Clock)
            : services.AddSingleton(start.Clock);

    private static IServiceCollection AddMetrics(this IServiceCollection services, PnhOptions options) => services
        .AddSingleton(static _ => Prometheus.Metrics.NewCustomRegistry())
        .AddSingleton(static provider => new RequestMetrics(provider.GetRequiredService<CollectorRegistry>()))
        .AddSingleton(provider => new HubMetrics(
            provider.GetRequiredService<CollectorRegistry>(), provider.GetRequiredService<TimeProvider>(), options.Apps.Keys));

    private static IServiceCollection AddStores(this IServiceCollection services, HubStart start)
    {
        // Unless a test has put one before it.
        services.TryAddSingleton<MemoryGuard>();
        services.TryAddSingleton<ReaderPlaces>();
        services.TryAddSingleton<IStorageEngine>(provider => EmbeddedEngine.Open(start.Options, start.Folder, start.Clock, provider));
        services.TryAddSingleton(static provider => provider.GetRequiredService<IStorageEngine>().Journal);
        return services
            .AddSingleton(static provider => provider.GetRequiredService<IStorageEngine>().Devices)
            .AddSingleton(static provider => provider.GetRequiredService<IStorageEngine>().Keys)
            .AddSingleton(static provider => provider.GetRequiredService<IStorageEngine>().Erasures);
    }

    private static IServiceCollection AddDecisions(this IServiceCollection services, PnhOptions options) => services
        .AddSingleton(options.ToPolicies())
        .AddSingleton(options.ToHubOptions())
        .AddSingleton(provider => new Planner(provider.GetRequiredService<ClassPolicies>(), provider.GetServices<IPushChannel>()))
        .AddSingleton(provider => new EventReader(
            provider.GetRequiredService<ClassPolicies>(), provider.GetServices<IPushChannel>().Select(static channel => (channel.Name, (OverrideCheck)channel.CheckOverride)))
        {
            LinkSchemes = app => options.Apps.TryGetValue(app, out var known) ? known.LinkSchemes : [],
            IsIdsOnly = app => options.Apps.TryGetValue(app, out var known) && known.ContentText is not null,
        })
        .AddSingleton<Hub>()
        .AddSingleton<ISessionEvents>(provider => provider.GetRequiredService<Hub>().Router);

    private static IServiceCollection AddSockets(this IServiceCollection services, PnhOptions options) => services
        .AddSingleton(provider => new WebSocketServer(
            provider.GetRequiredService<ISessionEvents>(),
            provider.GetRequiredService<IClientAuthenticator>(),
            provider.GetRequiredService<TimeProvider>(),
            options.Sockets,
            provider.GetRequiredService<ILogger<WebSocketServer>>(),
            provider.GetRequiredService<HubMetrics>().AcceptToFrame,
            provider.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping));

    private static IServiceCollection AddLinks(this IServiceCollection services, HubStart start) => start.Options is { Cluster.Urls.Count: 0 } ? services : services
        .AddSingleton(provider => LinkHello.Of(
            start.Options.NodeName,
            provider.GetRequiredService<IStorageEngine>().ClusterId,
            start.Options.Apps.Keys,
            ProgramVersion.Text,
            provider.GetRequiredService<TimeProvider>()))
        .AddSingleton(provider => new LinkServer(
            provider.GetRequiredService<ISessionEvents>(),
            provider.GetRequiredService<LinkHello>(),
            new SessionPasses(
                provider.GetRequiredService<IStorageEngine>().ReadOrCreateSecret("link-passes.key", SessionPasses.KeyBytes),
                provider.GetRequiredService<IClientAuthenticator>(),
                provider.GetRequiredService<TimeProvider>()),
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<LinkServer>>()))
        .AddSingleton(provider => new TeeServer(
            provider.GetRequiredService<LinkHello>(),
            provider.GetRequiredService<LinkServer>().Refusals,
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<TeeServer>>()))
        .AddSingleton(provider => new LinkListener(
            start.Options.Cluster,
            provider.GetRequiredService<LinkServer>(),
            provider.GetRequiredService<TeeServer>(),
            provider.GetRequiredService<IConfiguration>(),
            provider.GetRequiredService<ILoggerFactory>()))
        .AddSingleton(provider => new ClusterMetrics(
            provider.GetRequiredService<LinkServer>(), new LinkMetrics(provider.GetRequiredService<CollectorRegistry>()), start.Role))
        .AddSingleton<HubLinks>();

    private static IServiceCollection AddIngest(this IServiceCollection services, HubStart start) => services
        .AddSingleton<EventIntake>()
        .AddTransports(start.Options, provider => new FrontParts(
            provider.GetRequiredService<EventIntake>(),
            provider.GetRequiredService<PublisherKeys>(),
            provider.GetRequiredService<IClientAuthenticator>(),
            start.Role == Role.Hub ? null : provider.GetRequiredService<WebSocketServer>().Accept,
            provider.GetRequiredService<RequestMetrics>().OfEvents,
            provider.GetRequiredService<TimeProvider>(),
            provider.GetRequiredService<ILogger<HttpFront>>()));

    private static IServiceCollection AddAccess(this IServiceCollection services, PnhOptions options) => services
        .AddSingleton(PublisherKeys.From(options.Apps.Values))
        .AddSingleton(provider => new ClientTokens(options.Apps.Values, provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<IErasureStore>()))
        .AddSingleton<IClientAuthenticator>(provider => provider.GetRequiredService<ClientTokens>());

    private static IServiceCollection AddOperatorConsole(this IServiceCollection services, HubStart start) => services
        .AddSingleton(provider => new HubConsole(
            new ConsoleTarget(
                [.. start.Options.Apps.Keys.Order(StringComparer.Ordinal)], start.DemoKey is null ? null : DemoApp.User, start.Sandbox),
            provider.GetRequiredService<Hub>(),
            provider.GetRequiredService<IDeviceStore>(),
            provider.GetRequiredService<EventIntake>(),
            provider.GetRequiredService<HubMetrics>(),
            provider.GetRequiredService<WebSocketServer>(),
            provider.GetRequiredService<ClientTokens>(),
            provider.GetRequiredService<TimelineEndpoint>(),
            new UserPage(
                provider.GetRequiredService<Hub>(),
                provider.GetRequiredService<IDeviceStore>(),
                provider.GetRequiredService<DeviceJson>(),
                provider.GetRequiredService<IEventJournal>(),
                provider.GetRequiredService<HistoryReads>(),
                provider.GetRequiredService<EventSearch>(),
                provider.GetRequiredService<TimeProvider>()),
            new Troubles(provider.GetRequiredService<Readiness>(), provider.GetServices<ProviderGauges>(), provider.GetRequiredService<HubMetrics>(), provider.GetRequiredService<DiskTrend>(), provider.GetRequiredService<Hub>().Rests),
            start.Options.Cluster.Urls.Count > 0 ? provider.GetRequiredService<ClusterView>().Read : null,
            provider.GetRequiredService<TimeProvider>()))
        .AddSingleton(provider => new ClusterView(
            start.Options.NodeName,
            start.Role,
            provider.GetRequiredService<HubMetrics>(),
            provider.GetRequiredService<WebSocketServer>(),
            provider.GetService<LinkServer>()))
        .AddSingleton<IConsoleSource>(provider => provider.GetRequiredService<HubConsole>())
        .AddSingleton(provider => new DiskTrend(provider.GetRequiredService<HubMetrics>().ReadFreeBytes, provider.GetRequiredService<TimeProvider>()))
        .AddSingleton(provider => new LastHour(
            provider.GetRequiredService<HubMetrics>().Snapshot, Path.Combine(start.Folder.FolderPath, "console.hour"), provider.GetRequiredService<TimeProvider>()))
        .AddSingleton(provider => new ConsoleAccessOptions
        {
            IsAdmin = key => key == KeyHash.Of(start.OperatorSecret) || IsOnlyApp(start.Options, provider.GetRequiredService<PublisherKeys>().Find(key)),
            SessionsFile = Path.Combine(start.Folder.FolderPath, "console.sessions"),
            HostNames = [.. start.Options.OperationsUrls.Select(static url => url.ToClientUri().Host), .. start.Options.Console.HostNames],
        })
        .AddConsole();

    // The console shows and serves the whole hub: a key of one app among several must not reach the others.
    private static bool IsOnlyApp(PnhOptions options, Caller? caller) =>
        caller is not null && caller.Scopes.Cover(Scope.Admin) && options.Apps.Count == 1 && options.Apps.ContainsKey(caller.App);

    private static IServiceCollection AddEndpoints(this IServiceCollection services, PnhOptions options) => services
        .AddSingleton<DeviceJson>()
        .AddSingleton(provider => new AddressMoves(options.Addresses.MovesPerHour, provider.GetRequiredService<TimeProvider>()))
        .AddSingleton<DeviceRegistrations>()
        .AddSingleton<HistoryReads>()
        .AddSingleton<EventBatches>()
        .AddSingleton<EventEndpoints>()
        .AddSingleton<DeviceEndpoints>()
        .AddSingleton<RenewalKeys>()
        .AddSingleton<DeviceTransfer>()
        .AddSingleton<UnreachableUsers>()
        .AddSingleton(provider => new UserEndpoints(
            provider.GetRequiredService<IDeviceStore>(),
            provider.GetRequiredService<DeviceJson>(),
            provider.GetRequiredService<Hub>(),
            new Erasure(
                provider.GetRequiredService<Hub>(),
                provider.GetRequiredService<IEventJournal>(),
                provider.GetRequiredService<IErasureStore>(),
                options.Journal.Retention,
                provider.GetRequiredService<TimeProvider>()),
            provider.GetRequiredService<IErasureStore>(),
            provider.GetRequiredService<IHostApplicationLifetime>()))
        .AddSingleton<TopicEndpoints>()
        .AddSingleton<SocketEndpoint>()
        .AddSingleton<TimelineEndpoint>()
        .AddSingleton<EventSearch>()
        .AddSingleton<UserEventsEndpoint>()
        .AddSingleton<DeviceTestEndpoint>()
        .AddSingleton<WithdrawEndpoint>()
        .AddSingleton<InboxEndpoints>()
        .AddSingleton<WebPushEndpoint>()
        .AddSingleton<FeedEndpoint>();
}
