using System.Collections.Frozen;
using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Push;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>Channels by name. A channel joins when it is registered, or with its first delivery; the table is replaced then, so that finding one never locks.</summary>
internal sealed class ChannelTable
{
    // A channel is a folder in the source: three today. The bound only guards against a caller that passes something else as the name.
    private const int MaxChannels = 16;

    private readonly Lock _adding = new();
    private readonly CollectFeed _feed;
    private readonly Counter _deliveries;
    private readonly Func<string[], StripedDurations> _acceptToProvider;
    private volatile FrozenDictionary<string, ChannelMetrics> _channels = FrozenDictionary<string, ChannelMetrics>.Empty;

    public ChannelTable(CollectFeed feed)
    {
        _feed = feed;
        _deliveries = feed.Counters(
            "pnh_deliveries_total", "Attempts to deliver an event to a device, by what the channel said.", "channel", "class", "status");
        _acceptToProvider = feed.Durations(
            "pnh_accept_to_provider_seconds", "From accepting the event to the provider's answer.", Buckets.Delivery, "channel", "class");
    }

    public ChannelMetrics Get(string channel) => _channels.TryGetValue(channel, out var metrics) ? metrics : Add(channel);

    /// <summary>Sums over all classes, without zeros, by channel name.</summary>
    public List<DeliveryTotal> Read()
    {
        var totals = new List<DeliveryTotal>();
        foreach (var channel in _channels.Values.OrderBy(c => c.Channel, StringComparer.Ordinal))
        {
            for (var status = 0; status < DeliveryStatusNames.Count; status++)
            {
                var count = channel.Read((DeliveryStatus)status);
                if (count > 0)
                {
                    totals.Add(new DeliveryTotal(channel.Channel, (DeliveryStatus)status, count));
                }
            }
        }

        return totals;
    }

    private ChannelMetrics Add(string channel)
    {
        lock (_adding)
        {
            if (!_channels.ContainsKey(channel) && _channels.Count >= MaxChannels)
            {
                channel = CollectFeed.Other;
            }

            if (_channels.TryGetValue(channel, out var known))
            {
                return known;
            }

            var metrics = new ChannelMetrics(channel, _feed, _deliveries, _acceptToProvider);
            _channels = _channels.Append(new(channel, metrics)).ToFrozenDictionary(StringComparer.Ordinal);
            return metrics;
        }
    }
}
