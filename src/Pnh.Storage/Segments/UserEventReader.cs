using System.Text;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Users;

namespace Pnh.Storage.Segments;

/// <summary>Puts a user's events together, newest first, by the places that the index of users names: a read for each milestone, none of other users. Thread-safe.</summary>
internal sealed class UserEventReader : IDisposable
{
    private readonly SegmentSet _segments;
    private readonly EventIndex _events;
    private readonly JournalOptions _options;

    /// <param name="segments">The log.</param>
    /// <param name="events">Where each event stands now.</param>
    /// <param name="tables">Where tables of users are kept; null = nowhere.</param>
    /// <param name="options">The retention.</param>
    public UserEventReader(SegmentSet segments, EventIndex events, IJournalFolder? tables, JournalOptions options)
    {
        (_segments, _events, _options) = (segments, events, options);
        Users = new UserIndex(segments, tables);
    }

    /// <summary>In place of a user: what did not arrive, of all of them.</summary>
    public const string Failures = UserRecords.Failures;

    // Of an event to many.
    private const int MostFailures = 20;

    /// <summary>What became of an event between two looks: it is read as a whole then, behind the writer.</summary>
    public delegate ValueTask<EventHistory?> ReadMoved(string app, string id, string? user, CancellationToken cancellationToken);

    public UserIndex Users { get; }

    public void Dispose() => Users.Dispose();

    /// <summary>As <see cref="IEventJournal.ReadUserAsync"/>, of what is on stable storage.</summary>
    /// <param name="app">Whose user.</param>
    /// <param name="user">Which; <see cref="UserRecords.Failures"/> = what did not arrive, of all users.</param>
    /// <param name="before">A <see cref="UserEventPage.Next"/>; null = from the newest.</param>
    /// <param name="limit">1 or more.</param>
    /// <param name="now">UTC ticks: what is over counts as gone.</param>
    /// <param name="readMoved">For events that the writer is carrying to the end of the log right now.</param>
    /// <param name="cancellationToken">Ends the read.</param>
    public async Task<UserEventPage> ReadAsync(
        string app, string user, string? before, int limit, long now, ReadMoved readMoved, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var isOfAll = user == UserRecords.Failures;
        var page = new UserPlaces(before is null ? long.MaxValue : Position.Parse(before), limit, isOfAll ? MostFailures : int.MaxValue);
        var slots = await Task.Run(() => Read(app, user, page, now), cancellationToken).ConfigureAwait(false);
        var found = new List<EventHistory>(slots.Count);
        foreach (var slot in slots)
        {
            var history = slot.Moved is { } id ? await readMoved(app, id, isOfAll ? null : user, cancellationToken).ConfigureAwait(false) : slot.History;
            if (history is not null && slot.Moved is not null)
            {
                history = history with { Milestones = [.. history.Milestones.Where(milestone => isOfAll ? UserRecords.IsFailure(milestone.Kind, milestone.State) : UserRecords.Holds(milestone.Kind))] };
            }

            if (history is { Milestones.Count: > 0 })
            {
                found.Add(history);
            }
        }

        return new UserEventPage(found, page.HasMore ? Position.ToText(slots[^1].Root) : null);
    }

    private List<Slot> Read(string app, string user, UserPlaces page, long now)
    {
        try
        {
            Users.Find(app, user, page);
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }

        var name = Encoding.UTF8.GetBytes(user);
        var slots = new List<Slot>();
        using var reader = new RecordReader(_segments);
        foreach (var (root, places) in page.Page())
        {
            var (stored, moved) = EventAt(reader, root, app, page, now);
            slots.Add(new Slot(root, stored is null ? null : new EventHistory(stored, Milestones(reader, root, places, name)), moved));
        }

        return slots;
    }

    /// <summary>
    /// Nothing when it is over, or was carried on and is told from its new place. Its id when it was carried on and the page lacks the new place: that was not on stable
    /// storage when the page was looked for, or belongs to a page that was read before.
    /// </summary>
    private (StoredEvent? Stored, string? Moved) EventAt(RecordReader reader, long root, string app, UserPlaces page, long now)
    {
        if (!IsFound(reader, root, out var record) || record.Kind is not (RecordKind.Accepted or RecordKind.Carried)
            || Payload.Event(record) is var stored && !string.Equals(stored.App, app, StringComparison.Ordinal))
        {
            return default;
        }

        var hash = _events.Hash.Of(app, stored.Id);
        if (!_events.TryFind(hash, root, out var entry))
        {
            return _events.TryFindOnly(hash, out entry) && entry.IsCarried && entry.Root > root && !page.Has(entry.Root) ? (null, stored.Id) : default;
        }

        var isOver = Retirement.IsOver(stored.AcceptedAt.UtcTicks, stored.ExpiresAt.UtcTicks, entry.IsFinished, _options.Retention, now);
        return isOver ? default : (stored, null);
    }

    private static List<Milestone> Milestones(RecordReader reader, long root, IReadOnlyCollection<long> places, ReadOnlySpan<byte> user)
    {
        var found = new List<Milestone>(places.Count);
        foreach (var place in places)
        {
            if (IsFound(reader, place, out var record) && record.Kind == RecordKind.Milestone && record.Root == root
                && (user.IsEmpty || Payload.UserOf(record).SequenceEqual(user)))
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

    /// <summary>A place of the page.</summary>
    /// <param name="Root">The event's first record.</param>
    /// <param name="History">What stands there; null = nothing any more.</param>
    /// <param name="Moved">The id of an event that is being carried elsewhere; null = it is not.</param>
    private readonly record struct Slot(long Root, EventHistory? History, string? Moved);
}
