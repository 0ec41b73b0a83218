using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Users;

/// <summary>
/// A page of one user's events while it is looked for, newest first: which there are before a place, and where the user's milestones of each stand. Segments are asked
/// from the newest on: an event has milestones in its own segment and in later ones, so that one is complete as soon as its own was asked. Not thread-safe.
/// </summary>
/// <param name="before">Only events whose first record stands before that place.</param>
/// <param name="limit">How many are wanted.</param>
/// <param name="mostPlaces">So many places of each at most, the newest.</param>
internal sealed class UserPlaces(long before, int limit, int mostPlaces = int.MaxValue)
{
    private readonly Dictionary<long, SortedSet<long>> _places = [];

    public long Before => before;

    /// <summary>How many events one segment need tell: no older one of it can be in the page.</summary>
    public int Limit => limit;

    /// <summary>True once segments were left out, or events: there is another page.</summary>
    public bool HasMore { get; private set; }

    public void Add(int segment, in UserRecord record)
    {
        if (!_places.TryGetValue(record.Root, out var places))
        {
            _places.Add(record.Root, places = []);
        }

        places.Add(Position.Of(segment, record.Offset));
        if (places.Count > mostPlaces)
        {
            places.Remove(places.Min);
        }
    }

    public bool Has(long root) => _places.ContainsKey(root);

    /// <summary>Some of the segment's events were left out, for the limit.</summary>
    public void LeftOut() => HasMore = true;

    /// <summary>True when the page is complete without older segments than this one.</summary>
    public bool IsFull(int segment)
    {
        var isFull = _places.Count >= limit && _places.Keys.Count(root => Position.Segment(root) >= segment) >= limit;
        HasMore |= isFull;
        return isFull;
    }

    /// <summary>The page: each event's first record with the places of the user's milestones, oldest place first.</summary>
    public List<(long Root, IReadOnlyCollection<long> Places)> Page()
    {
        HasMore |= _places.Count > limit;
        return [.. _places.Keys.OrderDescending().Take(limit).Select(root => (root, (IReadOnlyCollection<long>)_places[root]))];
    }
}
