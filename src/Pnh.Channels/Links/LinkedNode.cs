namespace Pnh.Channels.Links;

/// <summary>An edge as its hub counts it, over all connections of all its links. Thread-safe.</summary>
internal sealed class LinkedNode(string name)
{
    private readonly Lock _gate = new();
    private readonly List<LinkedEdge> _living = [];
    private LinkTraffic _ended;
    private string _build = "";

    /// <summary>Its name.</summary>
    public string Name => name;

    /// <summary>Its program's version, as it said last; empty = it did not.</summary>
    public string Build => Volatile.Read(ref _build);

    /// <summary>Links that it has now.</summary>
    public int Links
    {
        get
        {
            lock (_gate)
            {
                return _living.Count;
            }
        }
    }

    /// <summary>What went over its links since this process started.</summary>
    public LinkTraffic Traffic
    {
        get
        {
            lock (_gate)
            {
                return _living.Aggregate(_ended, static (sum, linked) => sum + linked.Traffic);
            }
        }
    }

    /// <summary>It has a link more.</summary>
    public void Add(LinkedEdge linked)
    {
        lock (_gate)
        {
            _living.Add(linked);
            _build = linked.Edge!.Build;
        }
    }

    /// <summary>A link of it is no more.</summary>
    public void Remove(LinkedEdge linked)
    {
        lock (_gate)
        {
            if (_living.Remove(linked))
            {
                _ended += linked.Traffic;
            }
        }
    }
}

/// <summary>What went over links: bytes of items, and transient events that were dropped, a session each.</summary>
internal readonly record struct LinkTraffic(long BytesIn, long BytesOut, long Dropped)
{
    public static LinkTraffic operator +(LinkTraffic left, LinkTraffic right) =>
        new(left.BytesIn + right.BytesIn, left.BytesOut + right.BytesOut, left.Dropped + right.Dropped);
}
