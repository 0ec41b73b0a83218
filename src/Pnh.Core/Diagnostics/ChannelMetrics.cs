using Pnh.Core.Diagnostics.Exposition;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Diagnostics;

/// <summary>One channel's series, bound once: deliveries by class and status, and the time from accept to the provider's answer by class.</summary>
internal sealed class ChannelMetrics
{
    private readonly StripedCells _deliveries = new(EventClassNames.All.Length * DeliveryStatusNames.Count);
    private readonly Histogram[] _acceptToProvider = new Histogram[EventClassNames.All.Length];
    private readonly HistogramFamily _histograms;
    private readonly Lock _adding = new();

    public ChannelMetrics(string channel, CounterFamily deliveries, HistogramFamily acceptToProvider)
    {
        Channel = channel;
        _histograms = acceptToProvider;
        foreach (var @class in EventClassNames.All)
        {
            for (var status = 0; status < DeliveryStatusNames.Count; status++)
            {
                var counter = new Counter(_deliveries, Index(@class, (DeliveryStatus)status));
                deliveries.Add(counter, channel, @class.Label(), ((DeliveryStatus)status).Label());
            }
        }
    }

    public string Channel { get; }

    public void Count(EventClass @class, DeliveryStatus status, long n) => _deliveries.Add(Index(@class, status), n);

    /// <summary>The series appear with the first answer: a socket has no provider, and 18 lines per class are not for nothing.</summary>
    public void AcceptToProvider(EventClass @class, TimeSpan time) => (_acceptToProvider[(int)@class] ?? AddHistogram(@class)).Record(time);

    public long Read(DeliveryStatus status)
    {
        long sum = 0;
        foreach (var @class in EventClassNames.All)
        {
            sum += _deliveries.Read(Index(@class, status));
        }

        return sum;
    }

    private Histogram AddHistogram(EventClass @class)
    {
        lock (_adding)
        {
            return _acceptToProvider[(int)@class] ??= _histograms.Add(Channel, @class.Label());
        }
    }

    private static int Index(EventClass @class, DeliveryStatus status) => ((int)@class * DeliveryStatusNames.Count) + (int)status;
}
