using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Prometheus;

namespace Pnh.Core.Diagnostics;

/// <summary>One channel's series, bound once: deliveries by class and status, and the time from accept to the provider's answer by class.</summary>
internal sealed class ChannelMetrics
{
    private readonly StripedCells _deliveries = new(EventClassNames.All.Length * DeliveryStatusNames.Count);
    private readonly StripedDurations?[] _acceptToProvider = new StripedDurations?[EventClassNames.All.Length];
    private readonly Func<string[], StripedDurations> _durations;
    private readonly Lock _adding = new();

    public ChannelMetrics(string channel, CollectFeed feed, Counter deliveries, Func<string[], StripedDurations> acceptToProvider)
    {
        Channel = channel;
        _durations = acceptToProvider;
        foreach (var @class in EventClassNames.All)
        {
            for (var status = 0; status < DeliveryStatusNames.Count; status++)
            {
                feed.Add(deliveries.WithLabels(channel, @class.Label(), ((DeliveryStatus)status).Label()), _deliveries, Index(@class, (DeliveryStatus)status));
            }
        }
    }

    public string Channel { get; }

    public void Count(EventClass @class, DeliveryStatus status, long n) => _deliveries.Add(Index(@class, status), n);

    /// <summary>The series appear with the first answer: a socket has no provider, and 18 lines per class are not for nothing.</summary>
    public void AcceptToProvider(EventClass @class, TimeSpan time, string? traceParent) =>
        (_acceptToProvider[(int)@class] ?? AddDurations(@class)).Record(time, traceParent);

    public long Read(DeliveryStatus status)
    {
        long sum = 0;
        foreach (var @class in EventClassNames.All)
        {
            sum += _deliveries.Read(Index(@class, status));
        }

        return sum;
    }

    private StripedDurations AddDurations(EventClass @class)
    {
        lock (_adding)
        {
            return _acceptToProvider[(int)@class] ??= _durations([Channel, @class.Label()]);
        }
    }

    private static int Index(EventClass @class, DeliveryStatus status) => ((int)@class * DeliveryStatusNames.Count) + (int)status;
}
