using System.Text;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Users;

namespace Pnh.Storage.Segments;

/// <summary>Puts a user's events together, newest first, by the places that the index of users names: a read for each milestone, none of other users. Stable storage only; thread-safe.</summary>
internal sealed class UserEventReader : IDisposable
{
    private readonly SegmentSet _segments;
    private readonly EventIndex _events;
    private readonly UserIndex _users;
    private readonly JournalOptions _options;

    /// <param name="segments">The log.</param>
    /// <param name="events">Where each event stands now.</param>
    /// <param name="tables">Where tables of users are kept; null = nowhere.</param>
    /// <param name="options">The retention.</param>
    public UserEventReader(SegmentSet segments, EventIndex events, IJournalFolder? tables, JournalOptions options)
    {
        (_segments, _events, _options) = (segments, events, options);
        _users = new UserIndex(segments, tables);
    }

    public void Dispose() => _users.Dispose();

    /// <summary>As <see cref="IEventJournal.ReadUserAsync"/>, at once.</summary>
    /// <param name="app">Whose user.</param>
    /// <param name="user">Which.</param>
    /// <param name="before">A <see cref="UserEventPage.Next"/>; null = from the newest.</param>
    /// <param name="limit">1 or more.</param>
    /// <param name="now">UTC ticks: what is over counts as gone.</param>
    public UserEventPage Read(string app, string user, string? before, int limit, long now)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var page = new UserPlaces(before is null ? long.MaxValue : Position.Parse(before), limit);
        try
        {
            _users.Find(app, user, page);
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }

        var found = new List<EventHistory>();
        var oldest = 0L;
        using var reader = new RecordReader(_segments);
        foreach (var (root, places) in page.Page())
        {
            oldest = root;
            if (EventAt(reader, root, app, now) is { } stored && Milestones(reader, root, places, user) is { Count: > 0 } milestones)
            {
                found.Add(new EventHistory(stored, milestones));
            }
        }

        return new UserEventPage(found, page.HasMore ? Position.ToText(oldest) : null);
    }

    /// <summary>Null when it does not stand there any more: it is over, or was carried on and is told from its new place.</summary>
    private StoredEvent? EventAt(RecordReader reader, long root, string app, long now)
    {
        if (!IsFound(reader, root, out var record) || record.Kind is not (RecordKind.Accepted or RecordKind.Carried))
        {
            return null;
        }

        var stored = Payload.Event(record);
        return string.Equals(stored.App, app, StringComparison.Ordinal) && _events.TryFind(_events.Hash.Of(app, stored.Id), root, out var entry)
            && !Retirement.IsOver(stored.AcceptedAt.UtcTicks, stored.ExpiresAt.UtcTicks, entry.IsFinished, _options.Retention, now) ? stored : null;
    }

    private static List<Milestone> Milestones(RecordReader reader, long root, IReadOnlyCollection<long> places, string user)
    {
        var name = Encoding.UTF8.GetBytes(user);
        var found = new List<Milestone>(places.Count);
        foreach (var place in places)
        {
            if (IsFound(reader, place, out var record) && record.Kind == RecordKind.Milestone && record.Root == root
                && Payload.UserOf(record).SequenceEqual(name))
            {
                found.Add(Payload.Milestone(record));
            }
        }

        return found;
    }

    /// <summary>False = its segment was removed meanwhile.</summary>
    private static bool IsFound(RecordReader reader, long place, out Record record) => reader.TryRead(place, out record) switch
    {
        ReadResult.Found => true,
        ReadResult.Gone => false,
        _ => throw DiskFault.Unreadable(place),
    };
}
