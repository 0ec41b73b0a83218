using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Reads;

/// <summary>Events that are not finished, with where their deliveries stand: what a start takes up, what rests for a device, what is over. Thread-safe.</summary>
/// <param name="reader">Whole histories.</param>
/// <param name="ofUser">What they say of one user.</param>
/// <param name="index">What rests for which device.</param>
/// <param name="find">Where the events with these hashes stand, asked behind the writer: an empty entry where there is none, or more than one. Those that were withdrawn from a user (null = nobody is asked for) are left out too.</param>
/// <param name="retention">How long ids are recognised.</param>
/// <param name="time">What is over counts as gone.</param>
internal sealed class UnfinishedReader(
    HistoryReader reader, UserHistoryReader ofUser, EventIndex index, Func<IReadOnlyList<ulong>, string?, Task<IndexEntry[]>> find, TimeSpan retention, TimeProvider time)
{
    /// <summary>Of these events those that are not over.</summary>
    public async Task<List<UnfinishedEvent>> ReadAsync(IReadOnlyList<IndexEntry> entries)
    {
        var found = new List<UnfinishedEvent>(entries.Count);
        foreach (var entry in entries)
        {
            if (await FollowAsync(entry, user: null, ReadWholeAsync).ConfigureAwait(false) is { } history && !IsOver(history.Event))
            {
                found.Add(UnfinishedFold.Fold(history));
            }
        }

        return found;
    }

    /// <summary>As <see cref="IEventJournal.ReadMailAsync"/>.</summary>
    public async Task<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of)
    {
        var (key, found) = (index.Hash.Of(app, user, device), new List<RestingEvent>());

        // Asked first, so that what was noted before this call is in the table.
        await find([], null).ConfigureAwait(false);
        var resting = index.Mail.Find(key, of is { } one ? index.KeyOf(one) : 0);
        var entries = resting.Count == 0 ? [] : await find(resting, user).ConfigureAwait(false);
        Array.Sort(entries, static (a, b) => a.Root.CompareTo(b.Root));
        foreach (var entry in entries)
        {
            if (entry is { IsEmpty: false, IsFinished: false } && await TryAsync(entry, user, at => ReadRestingAsync(at, user, device)).ConfigureAwait(false) is { Event: { } mail }
                && !IsOver(mail.Event) && mail.Event.App == app)
            {
                found.Add(mail);
            }
        }

        // What was carried stands behind younger ones.
        return [.. found.OrderBy(static one => one.Event.AcceptedAt)];
    }

    /// <summary>As <see cref="IEventJournal.ReadOverAsync"/>.</summary>
    public async Task<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most)
    {
        var wholeSeconds = MailTable.SecondsOf(until.AddTicks(1 - TimeSpan.TicksPerSecond)); // down, where ends are rounded up
        var over = index.Mail.TakeOver(wholeSeconds, most);
        try
        {
            var found = new List<UnfinishedEvent>();
            var events = over.GroupBy(static one => one.Event, static one => one.Device).ToArray();
            var entries = events.Length == 0 ? [] : await find(Array.ConvertAll(events, static one => one.Key), null).ConfigureAwait(false);
            for (var i = 0; i < entries.Length; i++)
            {
                if (entries[i] is { IsEmpty: false, IsFinished: false } && await TryAsync(entries[i], user: null, ReadWholeAsync).ConfigureAwait(false) is { } history
                    && !IsOver(history.Event) && Share(UnfinishedFold.Fold(history), [.. events[i]]) is { Deliveries.Count: > 0 } share)
                {
                    found.Add(share);
                }
            }

            return found;
        }
        catch (StoreUnavailableException)
        {
            // They are over all the same, and the next call gives them.
            over.ForEach(one => index.Mail.Put(one.Device, one.Event, end: 1));
            throw;
        }
    }

    private UnfinishedEvent Share(UnfinishedEvent whole, HashSet<ulong> devices) => whole with
    {
        Deliveries = [.. whole.Deliveries.Where(one => one.IsResting && devices.Contains(MailTable.KeyOf(index.Hash.Of(whole.Event.App, one.User, one.Device))))],
    };

    private bool IsOver(StoredEvent stored) =>
        IndexEntry.IsOver(stored.AcceptedAt.UtcTicks, stored.ExpiresAt.UtcTicks, isFinished: false, retention, time.GetUtcNow().UtcTicks);

    private ValueTask<EventHistory?> ReadWholeAsync(IndexEntry entry) => new(reader.Read(entry.Root, entry.Head));

    private async ValueTask<Found?> ReadRestingAsync(IndexEntry entry, string user, string device)
    {
        if (await ofUser.ReadRestAsync(entry.Root, entry.Head, user, device).ConfigureAwait(false) is not { } rest)
        {
            return null;
        }

        if (!rest.IsResting)
        {
            return new Found(null);
        }

        return reader.Event(entry.Root) is { } stored ? new Found(new RestingEvent(stored, rest.IsSettled, rest.IsAlone)) : null;
    }

    // Damage is counted, and nobody waits for it: what is beside it would never be read.
    private async ValueTask<T?> TryAsync<T>(IndexEntry entry, string? user, Func<IndexEntry, ValueTask<T?>> read)
        where T : class
    {
        try
        {
            return await FollowAsync(entry, user, read).ConfigureAwait(false);
        }
        catch (StoreUnavailableException fault) when (fault.IsDamage)
        {
            return null;
        }
    }

    // Where it stood when it was found, or where it was carried to since: the writer's thread removes old segments meanwhile.
    private async ValueTask<T?> FollowAsync<T>(IndexEntry entry, string? user, Func<IndexEntry, ValueTask<T?>> read)
        where T : class
    {
        while (true)
        {
            if (await read(entry).ConfigureAwait(false) is { } found)
            {
                return found;
            }

            var gone = entry;
            entry = (await find([gone.Hash], user).ConfigureAwait(false))[0];
            if (entry.IsEmpty || entry.Root == gone.Root || entry.IsFinished)
            {
                return null;
            }
        }
    }

    // What was read; null = it does not rest for the device.
    private sealed record Found(RestingEvent? Event);
}
