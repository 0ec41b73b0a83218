using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>Pages of events, newest first. Thread-safe.</summary>
internal sealed class EventSearch(IEventJournal journal, HistoryReads reads)
{
    // Where a filter passes nearly nothing a search ends all the same, after some 50 ms, and says where to go on.
    private const int MostRead = 2_000;

    /// <summary>
    /// The next page; it may have fewer events than the limit and still have a next. Null when the app's turn did not come. A cursor that is not of this hub is a <see cref="FormatException"/>.
    /// </summary>
    public async Task<UserEventPage?> ReadAsync(EventQuery query, CancellationToken cancellationToken)
    {
        var found = new List<EventHistory>();
        var (next, read) = (query.Before, 0);
        do
        {
            var left = query.Limit - found.Count;
            var (from, limit) = (next, left);
            var (isRead, page) = await reads.ReadAsync(query.App, end => ReadAsync(query, from, limit, end), cancellationToken);
            if (!isRead)
            {
                return read == 0 ? null : new UserEventPage(found, next);
            }

            read += left;
            next = page.Next;
            foreach (var history in page.Events)
            {
                if (history.Event.AcceptedAt < query.Since)
                {
                    return new UserEventPage(found, null);
                }

                if (query.Filter.Passes(history))
                {
                    found.Add(history);
                }
            }
        }
        while (next is not null && found.Count < query.Limit && read < MostRead && !query.IsOfAll);

        return new UserEventPage(found, next);
    }

    // A page of all reads some 16 MB of the log at most, also of other apps: no second one for one request.
    private ValueTask<UserEventPage> ReadAsync(EventQuery query, string? before, int limit, CancellationToken cancellationToken) =>
        query.User is { } user ? journal.ReadUserAsync(query.App, user, before, limit, cancellationToken)
        : query.IsOfAll ? journal.ReadRecentAsync(query.App, before, limit, cancellationToken)
        : journal.ReadFailuresAsync(query.App, before, limit, cancellationToken);
}

/// <summary>Which events are looked for.</summary>
/// <param name="App">Whose.</param>
/// <param name="User">Of that user; null = of all.</param>
/// <param name="OnlyFailures">Of all users, those that did not arrive; else whatever came.</param>
/// <param name="Filter">What passes.</param>
/// <param name="Before">The cursor of the page before; null = from the newest.</param>
/// <param name="Limit">Most events of the page.</param>
internal readonly record struct EventQuery(string App, string? User, bool OnlyFailures, DeliveryFilter Filter, string? Before, int Limit)
{
    /// <summary>Only events that were taken then or later; null = as far back as the log goes.</summary>
    public DateTimeOffset? Since { get; init; }

    /// <summary>True when neither a user nor an end is asked for.</summary>
    public bool IsOfAll => User is null && !OnlyFailures;
}
