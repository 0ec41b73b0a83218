namespace Pnh.Client.Sockets;

/// <summary>Ids of events that were handled, until no twin of them can come. One thread at a time.</summary>
internal sealed class HandledIds(TimeProvider time)
{
    private const int Most = 10_000;
    private readonly Dictionary<string, DateTimeOffset> _until = new(StringComparer.Ordinal);
    private readonly Queue<string> _order = new();

    public bool Has(string id) => _until.ContainsKey(id);

    public void Add(string id, TimeSpan ttl)
    {
        // By its arrival, as the hub's clock is another one.
        if (!_until.TryAdd(id, time.GetUtcNow() + ttl))
        {
            return;
        }

        _order.Enqueue(id);

        // Roughly by age: what is behind it is younger.
        while (_order.TryPeek(out var oldest) && (_order.Count > Most || _until[oldest] <= time.GetUtcNow()))
        {
            _until.Remove(_order.Dequeue());
        }
    }
}
