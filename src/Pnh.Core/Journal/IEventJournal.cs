using Pnh.Core.Events;
using Pnh.Core.Stores;

namespace Pnh.Core.Journal;

/// <summary>
/// The durable record of accepted events, their milestones and their outcomes. All members are thread-safe. One writer commits in groups: it
/// flushes again as soon as the last flush is done, with everything that came meanwhile. What cannot be written or read now is a
/// <see cref="StoreUnavailableException"/>.
/// </summary>
public interface IEventJournal
{
    /// <summary>
    /// Completes when the event is on stable storage (fsync done), or when a record with its id stands already. Continuations run
    /// asynchronously, never on the writer's thread. Throws when it could not be written: then it is not accepted.
    /// </summary>
    ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken);

    /// <summary>
    /// Notes a milestone. Not waited for: written with the next flush, at the latest some 50 ms later; lost in a crash, what it told is decided again.
    /// Notes of one event are written in the order they came.
    /// </summary>
    void Note(in Milestone milestone);

    /// <summary>
    /// Completes when all that was noted before is on stable storage, as soon as one sync allows: so the disk holds a caller back that notes thousands. Throws
    /// <see cref="StoreUnavailableException"/> when it could not be written now; it stays noted, so that this may be asked again.
    /// </summary>
    ValueTask FlushAsync(CancellationToken cancellationToken) => ValueTask.CompletedTask;

    /// <summary>Notes that no delivery of the event is open and no mailbox holds it: a restart does not take it up again. Written like <see cref="Note"/>.</summary>
    void Finish(string app, string id);

    /// <summary>Notes that a push address died or moved, for the feed. Written like <see cref="Note"/>.</summary>
    void NoteAddress(in AddressNote note);

    /// <summary>
    /// Takes the event back, for one user or (null) for all, at most once: the first call for a user writes it to stable storage and gets
    /// <see cref="WithdrawStatus.Withdrawn"/> with everything noted before, of that user when it is for one. A withdrawal for all stands for every user; one for a user does not
    /// stand for the others.
    /// </summary>
    ValueTask<WithdrawResult> WithdrawAsync(string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken);

    /// <summary>The event and everything noted of it before this call, in order; null = no such event, or past the retention.</summary>
    ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken);

    /// <summary>The same with what was noted of one user alone, which is cheap also when the event went to very many.</summary>
    async ValueTask<EventHistory?> ReadAsync(string app, string id, string user, CancellationToken cancellationToken) =>
        await ReadAsync(app, id, cancellationToken).ConfigureAwait(false) is { } whole
            ? whole with { Milestones = [.. whole.Milestones.Where(m => string.Equals(m.User, user, StringComparison.Ordinal))] }
            : null;

    /// <summary>The event alone; null = no such event, or past the retention. Cheaper than <see cref="ReadAsync(string, string, CancellationToken)"/>: waits for the writer only while it moves the event.</summary>
    ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken);

    /// <summary>
    /// A user's events, newest first as the log has them, each with what was noted of that user alone, but for its frames on sockets: outcomes, retries, reasons. Everything
    /// noted before this call is in it, unless nothing can be written now. Costs the page, however many others have those events. An event that is kept past the
    /// retention because it is open stands where it was carried to; while that is done it may be told twice.
    /// </summary>
    /// <param name="app">Whose user.</param>
    /// <param name="user">Which.</param>
    /// <param name="before">A <see cref="UserEventPage.Next"/>; null = from the newest.</param>
    /// <param name="limit">1 or more: at most so many. A page may have fewer, none even, and still not be the last.</param>
    /// <param name="cancellationToken">Ends the read.</param>
    /// <exception cref="FormatException">Not a cursor of this journal.</exception>
    ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken);

    /// <summary>
    /// The app's events of which a delivery did not arrive (failed, expired, unconfirmed), newest first as the log has them, each with the newest 20 of those ends at most. Otherwise as
    /// <see cref="ReadUserAsync"/>.
    /// </summary>
    ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken);

    /// <summary>
    /// The app's events, newest first as they were accepted, each with its milestones, or without when they are more than 128 or only just being written
    /// (<see cref="EventHistory.IsPartial"/>). One that is kept past the retention because it is open may be missing. Costs the page and what other apps sent meanwhile; where that is
    /// much, a page has fewer, none even, and is still not the last.
    /// </summary>
    /// <exception cref="FormatException">Not a cursor of this journal.</exception>
    ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken);

    /// <summary>
    /// The app's outcomes and address notes on stable storage after a place, oldest first, at most <paramref name="limit"/>. Each is given at
    /// least once to who goes on from <see cref="FeedPage.Next"/>, also after a restart.
    /// </summary>
    /// <param name="app">Whose.</param>
    /// <param name="after">A <see cref="FeedPage.Next"/>; null = from the oldest that is kept.</param>
    /// <param name="limit">1 or more.</param>
    /// <param name="cancellationToken">Ends the read.</param>
    /// <exception cref="FormatException">Not a cursor of this journal.</exception>
    ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken);

    /// <summary>How many deliveries of an app and a class rested without an end when the journal was opened. Never waits.</summary>
    IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail => new Dictionary<(string App, EventClass Class), int>();

    /// <summary>How many events may rest for the device (<see cref="MilestoneKind.Rested"/>): rather too many than too few. Never waits; 0 = none does.</summary>
    int CountMail(string app, string user, string device) => 0;

    /// <summary>Whether events that a newer one of the same class and collapse key replaces rest for the device: rather true than false. Never waits.</summary>
    bool HasMail(string app, string user, string device, in Collapse of) => false;

    /// <summary>Whether it is on stable storage that the event rests for the device: it may leave memory then. Never waits.</summary>
    bool Rests(string app, string id, string user, string device) => false;

    /// <summary>
    /// The events that rest for the device, of one class and collapse key (and perhaps some others), or (null) all, oldest first as they were accepted; not those that were withdrawn from the user. Everything noted before this call
    /// is in it. Reading changes nothing: a delivery rests until it has left its mailbox, its event is finished, or <see cref="ReadOverAsync"/> has given it.
    /// </summary>
    ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken) => ValueTask.FromResult<IReadOnlyList<RestingEvent>>([]);

    /// <summary>
    /// Events whose end has come (to a second) while they rested, each with those resting deliveries alone that this call takes out: <paramref name="most"/> of all events together at most. A delivery is given once, and
    /// again after a restart unless it was noted what became of it. An event of many may be given by several calls. What was noted counts once it is on stable storage.
    /// </summary>
    ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken) => ValueTask.FromResult<IReadOnlyList<UnfinishedEvent>>([]);

    /// <summary>
    /// Every event that was not finished and of which something is under way, oldest first, with where its deliveries stood; expired ones too, until the retention is over. Read once, before the first
    /// append.
    /// </summary>
    IAsyncEnumerable<UnfinishedEvent> RecoverAsync(CancellationToken cancellationToken);
}

/// <summary>What an append found.</summary>
public enum AppendResult
{
    /// <summary>New, and durable now.</summary>
    Appended,

    /// <summary>The same id with the same body was accepted before.</summary>
    Duplicate,

    /// <summary>The id was accepted before with another body.</summary>
    Conflict,
}

/// <summary>What became of a withdrawal.</summary>
public enum WithdrawStatus
{
    /// <summary>It stands now, and this call made it so.</summary>
    Withdrawn,

    /// <summary>It stood before.</summary>
    Already,

    /// <summary>No such event, or past the retention.</summary>
    Unknown,
}

/// <summary>What became of a withdrawal, and of what.</summary>
/// <param name="Status">What became of it.</param>
/// <param name="History">The event and what was noted before; null unless <see cref="WithdrawStatus.Withdrawn"/>.</param>
public readonly record struct WithdrawResult(WithdrawStatus Status, EventHistory? History = null);
