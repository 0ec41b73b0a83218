using System.Reflection;
using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Documents;
using Pnh.Api.Endpoints;
using Pnh.Api.Engines;
using Pnh.Api.FirstStart;
using Pnh.Api.Ingest;
using Pnh.Api.Listeners;
using Pnh.Api.Operations;
using Pnh.Api.WebConsole;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels;
using Pnh.Core.Hubs;
using Pnh.Core.Stores;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>One hub: built, started, stopped. The program runs one; tests run as many as they like.</summary>
internal sealed class HubHost : IAsyncDisposable
{
    private readonly HubStart _start;
    private readonly WebApplication _app;

    private HubHost(HubStart start, WebApplication app)
    {
        _start = start;
        _app = app;
    }

    /// <summary>Everything composed; for tests.</summary>
    public IServiceProvider Services => _app.Services;

    /// <summary>What was settled before: options, folder, sandbox.</summary>
    public HubStart Start => _start;

    /// <summary>True once the process was told to stop.</summary>
    public bool IsStopping => Services.GetRequiredService<IHostApplicationLifetime>().ApplicationStopping.IsCancellationRequested;

    /// <summary>The public listener's address, the port resolved. After <see cref="StartAsync"/>.</summary>
    public Uri PublicAddress => NodeAddress.Of(_app, 0);

    /// <summary>The operations listener's address, the port resolved. After <see cref="StartAsync"/>.</summary>
    public Uri OperationsAddress => NodeAddress.Of(_app, _start.Options.Urls.Count);

    /// <summary>The cluster listener's address, the port resolved. After <see cref="StartAsync"/>, of a hub that takes links.</summary>
    public Uri ClusterAddress => Services.GetRequiredService<LinkListener>().Address;

    /// <summary>
    /// Builds a hub from configuration tokens (<c>--Pnh:Urls=…</c>). Null when the configuration has errors. <paramref name="configure"/> may add
    /// services (tests: a clock); <paramref name="channels"/> are assemblies with further channels.
    /// </summary>
    public static Task<HubHost?> BuildAsync(
        string[] tokens, ConfigurationErrors errors, Action<WebApplicationBuilder>? configure, CancellationToken cancellationToken, params IEnumerable<Assembly> channels) =>
        BuildAsync(Role.All, tokens, errors, configure, cancellationToken, channels);

    /// <summary>The same, for a hub of this role.</summary>
    public static async Task<HubHost?> BuildAsync(
        Role role, string[] tokens, ConfigurationErrors errors, Action<WebApplicationBuilder>? configure, CancellationToken cancellationToken, params IEnumerable<Assembly> channels)
    {
        var builder = HubBuilder.Create(tokens);
        builder.Services.AddPushChannels(builder.Configuration.GetSection(PnhOptions.SectionName), channels);
        configure?.Invoke(builder);
        var knownKeys = KnownKeysOf(builder.Services);
        if (await HubStart.PrepareAsync(role, builder.Configuration, knownKeys, Environment.CurrentDirectory, errors, cancellationToken) is not { } start)
        {
            return null;
        }

        builder.Services.AddHub(start);
        builder.Services.AddTransports(start.Options);
        builder.WebHost.ConfigureKestrel(kestrel => NodeServer.Configure(kestrel, start.Options));
        builder.Services.AddNode(start.Options.DrainWindow ?? NodeServer.Drain);
        var host = new HubHost(start, builder.Build());
        CheckChannels(host.Services, errors);
        if (errors.None)
        {
            host.Map();
            return host;
        }

        await host.DisposeAsync();
        return null;
    }

    /// <summary>Recovers, opens the listeners, gives the demo user phones. Throws <see cref="IOException"/> when a port is in use.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await Services.GetRequiredService<IStorageEngine>().CheckAsync(cancellationToken);
        if (_start.Sandbox is { } sandbox)
        {
            var trust = Services.GetRequiredService<ProviderTrust>();
            trust.Trust(sandbox.ApnsAddress, sandbox.CaCertificate);
            trust.Trust(sandbox.FcmAddress, sandbox.CaCertificate);
            if (_start.DemoKey is not null)
            {
                await DemoDevices.RegisterAsync(
                    Services.GetRequiredService<IDeviceStore>(), sandbox, Services.GetRequiredService<TimeProvider>(), cancellationToken);
            }
        }

        await _app.StartAsync(cancellationToken);
        if (_start.Role == Role.All)
        {
            Services.GetRequiredService<HubConsole>().PublicAddress = PublicAddress;
        }
    }

    /// <summary>A link that lets one browser into the console, once.</summary>
    public Uri CreateConsoleLink() => Services.GetRequiredService<ConsoleAccess>().CreateLink(OperationsAddress);

    /// <summary>Until the process is told to stop; then stops.</summary>
    public Task WaitForShutdownAsync(CancellationToken cancellationToken) => _app.WaitForShutdownAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await _app.DisposeAsync();
        await _start.DisposeAsync();
    }

    /// <summary>The hub's own keys and those of the channels that are registered.</summary>
    internal static KnownKeys KnownKeysOf(IServiceCollection services) => KnownKeys.Hub().Add(services
        .Where(static service => service.ServiceType == typeof(PushChannelModule))
        .SelectMany(static service => ((PushChannelModule)service.ImplementationInstance!).ConfigurationKeys));

    /// <summary>What the channels find wrong in their accounts; with <paramref name="ofUse"/> also what a start passes over.</summary>
    internal static void CheckChannels(IServiceProvider services, ConfigurationErrors errors, bool ofUse = false)
    {
        var found = new List<string>();
        foreach (var check in services.GetServices<IConfigurationCheck>())
        {
            check.Check(found);
            check.CheckUse(ofUse ? found : []);
        }

        foreach (var line in found)
        {
            var colon = line.IndexOf(": ", StringComparison.Ordinal);
            errors.Add(colon < 0 ? PnhOptions.SectionName : line[..colon], colon < 0 ? line : line[(colon + 2)..]);
        }
    }

    private void Map()
    {
        _app.UseNode(_start.OperatorSecret);
        Services.GetRequiredService<EventEndpoints>().Map(_app);
        Services.GetRequiredService<DeviceEndpoints>().Map(_app);
        Services.GetRequiredService<DeviceTransfer>().Map(_app);
        Services.GetRequiredService<UnreachableUsers>().Map(_app);
        Services.GetRequiredService<UserEndpoints>().Map(_app);
        Services.GetRequiredService<TopicEndpoints>().Map(_app);
        Services.GetRequiredService<SocketEndpoint>().Map(_app, holdsSockets: _start.Role == Role.All);
        Services.GetRequiredService<TimelineEndpoint>().Map(_app);
        Services.GetRequiredService<UserEventsEndpoint>().Map(_app);
        Services.GetRequiredService<DeviceTestEndpoint>().Map(_app);
        Services.GetRequiredService<WithdrawEndpoint>().Map(_app);
        Services.GetRequiredService<InboxEndpoints>().Map(_app);
        Services.GetRequiredService<WebPushEndpoint>().Map(_app);
        Services.GetRequiredService<FeedEndpoint>().Map(_app);
        _app.MapConsole();
        _app.MapDocuments();
        _app.MapOperations(Services.GetRequiredService<Readiness>(), Services.GetRequiredService<CollectorRegistry>(), Services.GetRequiredService<ConsoleAccess>().MayScrape);
        _app.MapConsoleLinks(CreateConsoleLink);
        _app.MapCluster(Services.GetRequiredService<ClusterView>().Read);
        new AddressesEndpoint(Services.GetRequiredService<Hub>().Rests).Map(_app);
        new KeysEndpoint(
            Services.GetRequiredService<PublisherKeys>(),
            _start.Options.Apps.ContainsKey,
            Services.GetRequiredService<IPublisherKeyStore>(),
            Services.GetRequiredService<TimeProvider>()).Map(_app);
    }
}
