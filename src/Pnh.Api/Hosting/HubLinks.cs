using Pnh.Api.Engines;
using Pnh.Api.Listeners;
using Pnh.Channels.Links;
using Pnh.Core.Hubs;

namespace Pnh.Api.Hosting;

/// <summary>The links of a hub over its life: sessions first, recovery second. Else every client of an edge would get a push for what is on its screen.</summary>
internal sealed class HubLinks
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(1);
    private readonly LinkListener _listener;
    private readonly LinkServer _links;
    private readonly IStorageEngine _engine;

    public HubLinks(Hub hub, LinkListener listener, LinkServer links, TeeServer tees, IStorageEngine engine, ClusterMetrics metrics)
    {
        hub.Acceptor.Accepted = tees.Copy;
        metrics.Begin();
        _listener = listener;
        _links = links;
        _engine = engine;
        _links.Changed = engine.KeepEdges;
    }

    /// <summary>Listens, and waits a moment for the edges that the previous process had.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var known = _engine.ReadEdges();
        await _listener.StartAsync(cancellationToken);
        await _links.Start.UntilSyncedAsync(known, Patience, cancellationToken);
    }

    /// <summary>The hub knows what its previous process left: edges may say all they have.</summary>
    public void Recovered() => _links.Start.Recovered();

    /// <summary>Ends all links, once what was said to edges has left.</summary>
    public Task StopAsync(CancellationToken cancellationToken) => _listener.StopAsync(cancellationToken);
}
