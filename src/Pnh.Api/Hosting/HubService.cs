using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Engines;
using Pnh.Api.Listeners;
using Pnh.Api.Operations;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels;
using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Push;
using Pnh.Core.Stores;
using Pnh.Core.Users;
using Pnh.Storage.Files;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>
/// Starts the hub before the listeners open, and stops it in the order that loses nothing: not ready, sockets drained, lanes drained, what is
/// left stays in the journal.
/// </summary>
internal sealed partial class HubService : IHostedLifecycleService, IDisposable
{
    // Short enough for a restart by hand, long enough that 10,000 sockets do not come back in one second.
    private static readonly TimeSpan LaneDrain = TimeSpan.FromSeconds(5);

    // Any would do: a system has all zones or none.
    private const string KnownZone = "Europe/Berlin";
    private readonly Hub _hub;
    private readonly EventReader _reader;
    private readonly WebSocketServer _sockets;
    private readonly PublisherKeys _keys;
    private readonly IPublisherKeyStore _storedKeys;
    private readonly Readiness _readiness;
    private readonly ThreadPoolWatchdog _watchdog;
    private readonly RuntimeMetrics _runtime;
    private readonly AddressSweep _sweep;
    private readonly PnhOptions _options;
    private readonly List<string> _doubts;
    private readonly DataFolder _folder;
    private readonly bool _hasPredecessor;
    private readonly HubLinks? _links;
    private readonly Action _deal;
    private readonly ILogger<HubService> _log;

    public HubService(
        Hub hub, EventReader reader, WebSocketServer sockets, PublisherKeys keys, IPublisherKeyStore storedKeys, Readiness readiness, HubMetrics metrics,
        IEnumerable<ProviderGauges> providers, IEnumerable<IPushChannel> channels, IEnumerable<IConfigurationCheck> checks, CollectorRegistry registry, TimeProvider time,
        AddressSweep sweep, ConnectionBudgets budgets, PnhOptions options, DataFolder folder, FolderClock clock, IStorageEngine engine, ILogger<HubService> log, SocketLoops? loops = null, HubLinks? links = null)
    {
        _hub = hub;
        _reader = reader;
        _sockets = sockets;
        _keys = keys;
        _storedKeys = storedKeys;
        _readiness = readiness;
        // What arrives on the direct transport waits for its loop, all else for the pool.
        _watchdog = new ThreadPoolWatchdog(metrics, time, wait => hub.Acceptor.Observe(wait, loops?.TakeLongestTurn() ?? TimeSpan.Zero));
        _runtime = new RuntimeMetrics(registry);
        _sweep = sweep;
        _options = options;
        _doubts = [.. options.Doubts];
        foreach (var check in checks)
        {
            check.CheckUse(_doubts);
        }

        _folder = folder;
        _hasPredecessor = clock.WasKept;
        _links = links;
        _log = log;
        _deal = () => NodeServer.Deal(budgets, registry, sockets);
        engine.Export(metrics);
        metrics.RegisterReadiness(() => readiness.Fault is null, readiness.Stores.Select(static store => (store.Label, store.IsClosed)));
        if (readiness.Memory is { } memory)
        {
            metrics.RegisterMemory(() => memory.Live, () => memory.Limit, memory.Refuses);
        }

        metrics.RegisterRests(channels.Select(static channel => channel.Name).Where(static name => name != ChannelNames.WebSocket), hub.Rests.RestedOf, hub.Rests.CountOf);
        metrics.RegisterChannels([ChannelNames.WebSocket, .. channels.Select(static channel => channel.Name)]);
        foreach (var gauges in providers)
        {
            metrics.RegisterProvider(gauges.Channel, state => Connections(gauges, state), () => gauges.InFlight);
            foreach (var (reading, label, read) in gauges.Readings)
            {
                metrics.RegisterProvider(reading, gauges.Channel, label, read);
            }
        }

        if (links is not null)
        {
            NodeServer.ExportHeld(metrics, sockets);
        }

        NodeServer.Export(metrics, sockets, loops);
    }

    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        foreach (var warning in _folder.Warnings)
        {
            Log.SharedFolder(_log, warning);
        }

        if (TimeZones.Find(KnownZone) is null)
        {
            Log.NoTimeZones(_log, TimeZones.Folder);
        }

        foreach (var doubt in _doubts)
        {
            Log.Doubt(_log, doubt);
        }

        await LoadKeysAsync(cancellationToken);
        await (_links?.StartAsync(cancellationToken) ?? Task.CompletedTask);
        if (_hasPredecessor)
        {
            _hub.AwaitReturns();
        }

        await _hub.StartAsync(cancellationToken);
        _links?.Recovered();
        _deal();
        _watchdog.Start();
        _sweep.Start();
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken)
    {
        _readiness.IsReady = true;
        return Task.CompletedTask;
    }

    public async Task StoppingAsync(CancellationToken cancellationToken)
    {
        _readiness.IsReady = false;
        _hub.BeginStop();
        await _sockets.DrainAsync(_options.DrainWindow ?? NodeServer.Drain, cancellationToken);
        await (_links?.StopAsync(cancellationToken) ?? Task.CompletedTask);
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StoppedAsync(CancellationToken cancellationToken)
    {
        // Its own time: requests may have used up the host's, and what is cut off here was perhaps sent and is sent again after the start.
        using var deadline = new CancellationTokenSource(LaneDrain);
        await _sweep.DisposeAsync();
        await _hub.StopAsync(deadline.Token);
    }

    public void Dispose()
    {
        _watchdog.Dispose();
        _runtime.Dispose();
    }

    /// <summary>A key of an app that was taken out of the configuration opens nothing; it comes back with its app.</summary>
    private async Task LoadKeysAsync(CancellationToken cancellationToken)
    {
        var skipped = new HashSet<string>(StringComparer.Ordinal);
        foreach (var stored in await _storedKeys.LoadAsync(cancellationToken))
        {
            if (_options.Apps.ContainsKey(stored.App))
            {
                _keys.Add(PublisherKey.Of(stored));
            }
            else if (skipped.Add(stored.App))
            {
                Log.KeysSkipped(_log, stored.App);
            }
        }
    }

    private static long Connections(ProviderGauges gauges, string state) => state switch
    {
        "cold" => gauges.Connections(ConnectionState.Cold),
        "warm" => gauges.Connections(ConnectionState.Warm),
        "draining" => gauges.Connections(ConnectionState.Draining),
        _ => 0,
    };
}
