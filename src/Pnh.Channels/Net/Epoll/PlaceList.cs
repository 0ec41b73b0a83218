namespace Pnh.Channels.Net.Epoll;

/// <summary>Places in the order in which they came; the links are in the places. Not thread-safe: under the budget's lock.</summary>
internal sealed class PlaceList
{
    private ConnectionPermit? _last;

    /// <summary>The one that is there for the longest time.</summary>
    public ConnectionPermit? First { get; private set; }

    /// <summary>How many there are.</summary>
    public int Count { get; private set; }

    public void AddLast(ConnectionPermit place)
    {
        place.Before = _last;
        place.Behind = null;
        if (_last is null)
        {
            First = place;
        }
        else
        {
            _last.Behind = place;
        }

        _last = place;
        Count++;
    }

    /// <summary>It is in this list.</summary>
    public void Remove(ConnectionPermit place)
    {
        if (place.Before is null)
        {
            First = place.Behind;
        }
        else
        {
            place.Before.Behind = place.Behind;
        }

        if (place.Behind is null)
        {
            _last = place.Before;
        }
        else
        {
            place.Behind.Before = place.Before;
        }

        place.Before = place.Behind = null;
        Count--;
    }
}
