using System.Collections.Concurrent;
using Pnh.Core.Deliveries;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;

namespace Pnh.Core.Shards;

/// <summary>One lane per (channel, provider account, class), opened on first use. Thread-safe.</summary>
internal sealed class LaneTable : IAsyncDisposable
{
    private readonly ConcurrentDictionary<(IPushChannel Channel, string Account, EventClass Class), Lazy<DeliveryLane>> _lanes = new();
    private readonly ILaneOwner _owner;
    private readonly HubMetrics _metrics;
    private readonly TimeProvider _time;

    internal LaneTable(ILaneOwner owner, HubMetrics metrics, TimeProvider time)
    {
        _owner = owner;
        _metrics = metrics;
        _time = time;
        Pace = new BulkPace(time);
    }

    /// <summary>Of all bulk lanes.</summary>
    internal BulkPace Pace { get; }

    /// <summary>True when no lane has anything to do.</summary>
    internal bool IsIdle => _lanes.Values.All(l => l.Value.IsIdle);

    internal DeliveryLane Get(IPushChannel channel, string account, EventClass @class) =>
        _lanes.GetOrAdd(
            (channel, account, @class),
            static (key, table) => new Lazy<DeliveryLane>(() => table.Open(key.Channel, key.Account, key.Class)),
            this).Value;

    /// <summary>Waits for the sends under way until <paramref name="deadline"/>; what still waits in queues is left to the journal.</summary>
    internal Task DrainAsync(CancellationToken deadline) => Task.WhenAll(_lanes.Values.Select(l => l.Value.DrainAsync(deadline)));

    public async ValueTask DisposeAsync()
    {
        foreach (var lane in _lanes.Values)
        {
            await lane.Value.DisposeAsync().ConfigureAwait(false);
        }
    }

    private DeliveryLane Open(IPushChannel channel, string account, EventClass @class) =>
        new(channel.Name, @class, channel.Open(account, @class), _owner, _metrics, _time, @class == EventClass.Bulk ? Pace : null);
}
