using System.Text;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Users;

namespace Pnh.Storage.Segments.Reads;

/// <summary>
/// Pages of events, newest first: a user's, by the places that the index of users names (a read for each milestone, none of other users), or an app's, read from the log's
/// end on. Thread-safe.
/// </summary>
internal sealed class EventPages : IDisposable
{
    private readonly SegmentSet _segments;
    private readonly EventIndex _events;
    private readonly TimeSpan _retention;

    /// <param name="segments">The log.</param>
    /// <param name="events">Where each event stands now.</param>
    /// <param name="tables">Where tables of users are kept; null = nowhere.</param>
    /// <param name="retention">How long what is over is kept.</param>
    public EventPages(SegmentSet segments, EventIndex events, IJournalFolder? tables, TimeSpan retention)
    {
        (_segments, _events, _retention) = (segments, events, retention);
        Users = new UserIndex(segments, tables);
    }

    /// <summary>In place of a user: what did not arrive, of all of them.</summary>
    public const string Failures = UserRecords.Failures;

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
    /// <param name="threads">Reads on one of these, as a read blocks.</param>
    /// <param name="readMoved">For events that the writer is carrying to the end of the log right now.</param>
    /// <param name="cancellationToken">Ends the read.</param>
    public async Task<UserEventPage> ReadAsync(
        string app, string user, string? before, int limit, long now, TaskScheduler threads, ReadMoved readMoved, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var isOfAll = user == UserRecords.Failures;
        var (page, slots) = await Task.Factory.StartNew(() => ReadWhole(app, user, before, limit, now), cancellationToken, TaskCreationOptions.DenyChildAttach, threads).ConfigureAwait(false);
        var found = new List<EventHistory>(slots.Count);
        foreach (var slot in slots)
        {
            var history = slot.Moved is { } id ? await readMoved(app, id, isOfAll ? null : user, cancellationToken).ConfigureAwait(false) : slot.History;
            if (history is not null && slot.Moved is not null)
            {
                history = history with { Milestones = [.. history.Milestones.Where(milestone => isOfAll ? MilestoneViews.IsFailure(milestone.Kind, milestone.State) : MilestoneViews.IsOfUser(milestone.Kind))] };
            }

            if (history is { Milestones.Count: > 0 })
            {
                found.Add(history);
            }
        }

        return new UserEventPage(found, page.HasMore ? Position.ToText(slots[^1].Root) : null);
    }

    /// <summary>As <see cref="IEventJournal.ReadRecentAsync"/>, of what is on stable storage.</summary>
    /// <param name="app">Whose.</param>
    /// <param name="before">A <see cref="UserEventPage.Next"/>; null = from the newest.</param>
    /// <param name="limit">1 or more.</param>
    /// <param name="now">UTC ticks: what is over counts as gone.</param>
    public UserEventPage ReadRecent(string app, string? before, int limit, long now)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(limit, 1);
        var scan = SegmentScan.Rent();
        var newest = new NewestEvents(_segments, scan, app, limit);
        var place = before is null ? long.MaxValue : Position.Parse(before);
        try
        {
            newest.Find(place);
        }
        catch (IOException fault)
        {
            throw DiskFault.NotWritten(fault);
        }
        finally
        {
            scan.GiveBack();
        }

        var found = new List<EventHistory>(newest.Roots.Count);
        using var reader = new RecordReader(_segments);
        foreach (var root in newest.Roots)
        {
            if (IsFound(reader, root, out var record) && Payload.Event(record) is var stored
                && _events.TryFind(_events.Hash.Of(app, stored.Id), root, out var entry) && !IsOver(stored, entry, now))
            {
                found.Add(WithMilestones(reader, stored, root, entry.Head));
            }
        }

        return new UserEventPage(found, newest.Next is { } next ? Position.ToText(next) : null);
    }

    private static EventHistory WithMilestones(RecordReader reader, StoredEvent stored, long root, long head)
    {
        var found = new List<Milestone>();
        var chain = new MilestoneChain(reader, root, head, after: root);
        while (chain.MoveNext())
        {
            if (found.Count == MilestoneViews.MostMilestones)
            {
                return new EventHistory(stored, []) { IsPartial = true };
            }

            found.Add(Payload.Milestone(chain.Current));
        }

        // The newest is not on stable storage yet, or was put aside: without it nobody knows those before it.
        found.Reverse();
        return new EventHistory(stored, found) { IsPartial = chain.IsBroken };
    }

    /// <summary>A page during which no segment was removed: an open event of one that was stands elsewhere by then, which a page that was begun before does not know.</summary>
    private (UserPlaces Page, List<Slot> Slots) ReadWhole(string app, string user, string? before, int limit, long now)
    {
        while (true)
        {
            var oldest = _segments.Oldest;
            var page = new UserPlaces(before is null ? long.MaxValue : Position.Parse(before), limit, user == Failures ? MilestoneViews.MostFailures : int.MaxValue);
            var slots = Read(app, user, page, now);
            if (oldest == _segments.Oldest)
            {
                return (page, slots);
            }
        }
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
    /// Nothing when it is over, or was carried on and is read at its new place. Its id when it was carried on and the page lacks the new place: that was not on stable
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

        return IsOver(stored, entry, now) ? default : (stored, null);
    }

    private bool IsOver(StoredEvent stored, IndexEntry entry, long now) =>
        IndexEntry.IsOver(stored.AcceptedAt.UtcTicks, stored.ExpiresAt.UtcTicks, entry.IsFinished, _retention, now);

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
        _ => throw reader.Unreadable(place),
    };

    /// <summary>A place of the page.</summary>
    /// <param name="Root">The event's first record.</param>
    /// <param name="History">What stands there; null = nothing any more.</param>
    /// <param name="Moved">The id of an event that is being carried elsewhere; null = it is not.</param>
    private readonly record struct Slot(long Root, EventHistory? History, string? Moved);
}
