using Pnh.Api.Configuration;
using Pnh.Api.Listeners;
using Pnh.Channels.Links;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Server;
using Pnh.Core.Diagnostics;
using Prometheus;

namespace Pnh.Api.Hosting;

/// <summary>Starts an edge, and stops it in the order that loses nothing: not ready, sessions handed over, what their clients said noted by the hub, the links closed.</summary>
internal sealed class EdgeService : IHostedLifecycleService, IDisposable
{
    private static readonly TimeSpan NotedWithin = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);
    private readonly WebSocketServer _sockets;
    private readonly EdgeSessions _sessions;
    private readonly IReadOnlyList<LinkDialler> _diallers;
    private readonly EdgeReadiness _readiness;
    private readonly ConnectionBudgets _budgets;
    private readonly CollectorRegistry _registry;
    private readonly ThreadPoolWatchdog _watchdog;
    private readonly RuntimeMetrics _runtime;
    private readonly TimeProvider _time;
    private readonly TimeSpan _drain;

    public EdgeService(
        WebSocketServer sockets, EdgeSessions sessions, IReadOnlyList<LinkDialler> diallers, EdgeReadiness readiness, ConnectionBudgets budgets, CollectorRegistry registry, HubMetrics metrics,
        TimeProvider time, PnhOptions options, SocketLoops? loops = null)
    {
        _sockets = sockets;
        _sessions = sessions;
        _time = time;
        _drain = options.DrainWindow ?? NodeServer.EdgeDrain;
        _diallers = diallers;
        _readiness = readiness;
        _budgets = budgets;
        _registry = registry;
        _watchdog = new ThreadPoolWatchdog(metrics, time);
        _runtime = new RuntimeMetrics(registry);
        var links = new LinkMetrics(registry);
        links.AddLinks("hub", "linked", () => sessions.Links.Count(static link => link.IsReady));
        links.AddLinks("hub", "broken", () => sessions.Links.Count(static link => !link.IsReady));
        NodeServer.ExportHeld(metrics, sockets);
        metrics.RegisterReadiness(() => readiness.Readiness.Fault is null, []);
        NodeServer.Export(metrics, sockets, loops);
    }

    public Task StartingAsync(CancellationToken cancellationToken)
    {
        NodeServer.Deal(_budgets, _registry, _sockets);
        _watchdog.Start();
        return Task.CompletedTask;
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken)
    {
        foreach (var dialler in _diallers)
        {
            dialler.Start();
        }

        _readiness.Readiness.IsReady = true;
        return Task.CompletedTask;
    }

    public async Task StoppingAsync(CancellationToken cancellationToken)
    {
        _readiness.Readiness.IsReady = false;
        await _sockets.HandOverAsync(_drain, cancellationToken);
        await UntilNotedAsync(cancellationToken);
        await Task.WhenAll(_diallers.Select(static dialler => dialler.StopAsync()));
    }

    // An ack that only this process knows would be lost with it: the event came to the client once more.
    private async Task UntilNotedAsync(CancellationToken cancellationToken)
    {
        var started = _time.GetTimestamp();
        while (_sessions.Links.Any(static link => link.HeldReports > 0) && _time.GetElapsedTime(started) < NotedWithin)
        {
            await Task.Delay(Look, _time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public async Task StoppedAsync(CancellationToken cancellationToken)
    {
        foreach (var dialler in _diallers)
        {
            await dialler.DisposeAsync();
        }
    }

    public void Dispose()
    {
        _watchdog.Dispose();
        _runtime.Dispose();
    }
}
