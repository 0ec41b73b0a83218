using System.Collections.Concurrent;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Lanes;

/// <summary>One lane per (channel, provider account, class), opened on first use. Thread-safe.</summary>
internal sealed class LaneTable : IAsyncDisposable
{
    // Some 2 MB, and a second or two of a quick provider's time.
    private const long MostWaiting = 8_192;
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);
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

    /// <summary>
    /// For a long fan-out: completes when no lane of the class has more than so many waiting, or when it gets no shorter: a provider that hangs is not
    /// waited for.
    /// </summary>
    internal async ValueTask WaitForRoomAsync(EventClass @class, CancellationToken cancellationToken)
    {
        if (@class == EventClass.Bulk)
        {
            await Pace.WaitForRoomAsync(cancellationToken).ConfigureAwait(false);
            return;
        }

        for (var before = long.MaxValue; LongestOf(@class) is var now && now > MostWaiting && now < before; before = now)
        {
            await Task.Delay(Look, _time, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Waits for the sends under way until <paramref name="deadline"/>; what still waits in queues is left to the journal.</summary>
    internal Task DrainAsync(CancellationToken deadline) => Task.WhenAll(_lanes.Values.Select(l => l.Value.DrainAsync(deadline)));

    public async ValueTask DisposeAsync()
    {
        foreach (var lane in _lanes.Values)
        {
            await lane.Value.DisposeAsync().ConfigureAwait(false);
        }
    }

    private long LongestOf(EventClass @class)
    {
        var longest = 0L;
        foreach (var (key, lane) in _lanes)
        {
            longest = key.Class == @class ? Math.Max(longest, lane.Value.Length) : longest;
        }

        return longest;
    }

    private DeliveryLane Open(IPushChannel channel, string account, EventClass @class) =>
        new(channel.Name, account, @class, channel.Open(account, @class), _owner, _metrics, _time, @class == EventClass.Bulk ? Pace : null);
}
