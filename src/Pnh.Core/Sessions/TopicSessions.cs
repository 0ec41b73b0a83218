namespace Pnh.Core.Sessions;

/// <summary>The sessions in a topic at one moment, as a durable event meets them. Immutable; thread-safe.</summary>
internal sealed class TopicSessions
{
    private readonly HashSet<string> _members = new(StringComparer.Ordinal);
    private HashSet<(string User, string Device)>? _guests;

    /// <summary>Of these places; the caller holds the topic's lock.</summary>
    internal TopicSessions(ReadOnlySpan<TopicPlace> places)
    {
        var members = new List<Subscriber>();
        var guests = new List<Subscriber>();
        foreach (var place in places)
        {
            if ((place.Reasons & TopicReasons.Member) == 0)
            {
                guests.Add(place.Subscriber);
            }
            else if (_members.Add(place.Subscriber.Key.User))
            {
                members.Add(place.Subscriber);
            }
        }

        (Members, Guests) = ([.. members], [.. guests]);
    }

    /// <summary>In a topic that nobody is in any more: these devices had the event as guests.</summary>
    internal static TopicSessions OfGuests(IEnumerable<(string User, string Device)> guests) => new([]) { _guests = [.. guests] };

    /// <summary>In a topic that nobody is in.</summary>
    internal static TopicSessions None { get; } = new([]);

    /// <summary>A session of each member who has one.</summary>
    internal Subscriber[] Members { get; }

    /// <summary>Sessions that joined, of users who are no members.</summary>
    internal Subscriber[] Guests { get; }

    /// <summary>True for a member who has a session.</summary>
    internal bool HasMember(string user) => _members.Contains(user);

    /// <summary>True for the device of a guest. Asked for few topics: what answers it is made with the first question.</summary>
    internal bool HasGuest(string user, string device)
    {
        var guests = Volatile.Read(ref _guests);
        if (guests is null)
        {
            if (Guests.Length == 0)
            {
                return false;
            }

            guests = [.. Guests.Select(static guest => (guest.Key.User, guest.Key.Device))];
            Volatile.Write(ref _guests, guests);
        }

        return guests.Contains((user, device));
    }
}
