using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>An edge as its hub counts it, over all connections of all its links. Thread-safe.</summary>
internal sealed class LinkedNode(string name, TimeProvider time)
{
    private readonly Lock _gate = new();
    private NodeStatus? _status;
    private long _goneSince;
    private readonly List<LinkedEdge> _living = [];
    private LinkTraffic _ended;
    private string _build = "";
    private long _over;

    /// <summary>Its name.</summary>
    public string Name => name;

    /// <summary>Its program's version, as it said last; empty = it did not.</summary>
    public string Build => Volatile.Read(ref _build);

    /// <summary>What it said of itself last; null = it has no link, or its build does not say.</summary>
    public NodeStatus? Status
    {
        get
        {
            lock (_gate)
            {
                return _living.Count > 0 ? _status : null;
            }
        }
    }

    /// <summary>As <see cref="NodeStatus.Over"/>, also while it has no link.</summary>
    public long Over => Volatile.Read(ref _over);

    /// <summary>For how long it has had no link; null = it has one.</summary>
    public TimeSpan? GoneFor
    {
        get
        {
            lock (_gate)
            {
                return _living.Count > 0 ? null : time.GetElapsedTime(_goneSince);
            }
        }
    }

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

    /// <summary>Sessions that it has said on its links.</summary>
    public int Sessions
    {
        get
        {
            lock (_gate)
            {
                return _living.Sum(static linked => linked.Link.Sessions);
            }
        }
    }

    /// <summary>It said how it is.</summary>
    public void Say(NodeStatus status)
    {
        lock (_gate)
        {
            (_status, _over) = (status, status.Over);
        }
    }

    /// <summary>It has a link more.</summary>
    public void Add(LinkedEdge linked)
    {
        lock (_gate)
        {
            _status = _living.Count > 0 ? _status : null; // of another process, perhaps
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
                _goneSince = time.GetTimestamp();
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
