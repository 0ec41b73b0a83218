using System.Runtime.CompilerServices;
using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>
/// The journal in PostgreSQL, but for partitions that are over, which stand. Thread-safe.
/// </summary>
internal sealed class PostgresJournal : IEventJournal, IAsyncDisposable
{
    private const int PageRows = 256;
    private const string Open = $"""
        SELECT {PostgresEventRow.Columns} FROM pnh.open o JOIN pnh.events e ON e.gen = o.gen AND e.no = o.no WHERE o.cell = 0 AND o.state = 0 AND o.no > $1 ORDER BY o.no LIMIT $2
        """;

    private readonly PostgresDatabase _database;
    private readonly PostgresPartitions _partitions;
    private readonly PostgresMail _mail;
    private readonly PostgresStanding _standing;
    private readonly PostgresJournalWriter _writer;
    private readonly TimeProvider _time;
    private readonly TimeSpan _retention;

    private PostgresJournal(PostgresDatabase database, PostgresPartitions partitions, PostgresMail mail, PostgresStanding standing, PostgresJournalWriter writer, TimeProvider time, TimeSpan retention) =>
        (_database, _partitions, _mail, _standing, _writer, _time, _retention) = (database, partitions, mail, standing, writer, time, retention);

    /// <summary>Why events are refused now, in one line; null = they are taken. It goes by itself.</summary>
    public string? Refusal => _writer.Refusal;

    /// <summary>
    /// Opens the database, takes the journal's lock and begins a term. Throws <see cref="DataFolderException"/> with what to do when the database may not be used, and <see cref="StoreUnavailableException"/> when it cannot be
    /// reached or another process has it.
    /// </summary>
    public static async Task<PostgresJournal> OpenAsync(string connectionString, TimeProvider time, TimeSpan retention, CancellationToken cancellationToken = default)
    {
        var database = await PostgresDatabase.OpenAsync(connectionString, cancellationToken).ConfigureAwait(false);
        NpgsqlConnection? session = null;
        try
        {
            session = await database.OpenWriterAsync(PostgresLock.Journal, cancellationToken).ConfigureAwait(false);
            var term = await PostgresDatabase.BeginTermAsync(session, time.GetUtcNow(), cancellationToken).ConfigureAwait(false);
            var partitions = new PostgresPartitions(retention);
            await partitions.ReadAsync(session, cancellationToken).ConfigureAwait(false);
            var standing = new PostgresStanding(time, retention);
            var mail = new PostgresMail();
            await mail.OpenAsync(session, cancellationToken).ConfigureAwait(false);
            return new PostgresJournal(database, partitions, mail, standing, new PostgresJournalWriter(session, term, partitions, mail, standing, stop => database.OpenWriterAsync(term, stop)), time, retention);
        }
        catch (Exception fault)
        {
            if (session is not null)
            {
                await session.DisposeAsync().ConfigureAwait(false);
            }

            await database.DisposeAsync().ConfigureAwait(false);
            throw PostgresFault.Is(fault) ? PostgresFault.Of(fault) : fault;
        }
    }

    /// <inheritdoc cref="IEventJournal.AppendAsync"/>
    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!accepted.IsDurable)
        {
            throw new ArgumentException("A transient event is not journaled.", nameof(accepted));
        }

        var append = new PostgresAppend(accepted, _partitions.Of(accepted.AcceptedAt, accepted.ExpiresAt));
        _writer.Add(append);
        return new ValueTask<AppendResult>(append.Answer);
    }

    /// <inheritdoc cref="IEventJournal.FlushAsync"/>
    public ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var flush = new PostgresFlush();
        _writer.Add(flush);
        return new ValueTask(flush.Answer);
    }

    /// <inheritdoc cref="IEventJournal.Finish"/>
    public void Finish(string app, string id) => _writer.Add(PostgresNote.Finish(app, id));

    /// <inheritdoc cref="IEventJournal.Note"/>
    public void Note(in Milestone milestone) => _writer.Add(new PostgresNote(milestone));

    /// <inheritdoc cref="IEventJournal.NoteAddress"/>
    public void NoteAddress(in AddressNote note) => _writer.Add(new PostgresNote(Payload.FromAddress(note)));

    /// <inheritdoc cref="IEventJournal.WithdrawAsync"/>
    public ValueTask<WithdrawResult> WithdrawAsync(string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var withdrawal = new PostgresWithdraw(app, id, user, reason, at);
        _writer.Add(withdrawal);
        return new ValueTask<WithdrawResult>(withdrawal.Answer);
    }

    /// <inheritdoc/>
    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => ReadPartAsync(app, id, null, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<EventHistory?> ReadAsync(string app, string id, string user, CancellationToken cancellationToken) => ReadPartAsync(app, id, user, cancellationToken);

    private async ValueTask<EventHistory?> ReadPartAsync(string app, string id, string? user, CancellationToken cancellationToken)
    {
        await FlushAsync(cancellationToken).ConfigureAwait(false);
        if (await _standing.FindAsync(_database, app, id, cancellationToken).ConfigureAwait(false) is not { } of)
        {
            return null;
        }

        return new EventHistory(of.Event, await _database.ReadAsync(
            batch => PostgresHistories.AddNotes(batch, of.Gen, of.No, user), rows => PostgresHistories.ReadAsync(rows, cancellationToken), cancellationToken).ConfigureAwait(false));
    }

    /// <inheritdoc cref="IEventJournal.FindAsync"/>
    public async ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) =>
        (await _standing.FindAsync(_database, app, id, cancellationToken).ConfigureAwait(false))?.Event;

    /// <inheritdoc cref="IEventJournal.ReadUserAsync"/>
    public ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken) =>
        ReadPageAsync(pages => pages.OfUserAsync(app, user, before, limit, cancellationToken), cancellationToken);

    /// <inheritdoc cref="IEventJournal.ReadFailuresAsync"/>
    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        ReadPageAsync(pages => pages.OfFailuresAsync(app, before, limit, cancellationToken), cancellationToken);

    /// <inheritdoc cref="IEventJournal.ReadRecentAsync"/>
    public ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        ReadPageAsync(pages => pages.RecentAsync(app, before, limit, cancellationToken), cancellationToken);

    /// <inheritdoc cref="IEventJournal.ReadFeedAsync"/>
    public async ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) =>
        await PostgresFeed.ReadAsync(_database, app, after, limit, _writer.Newest, cancellationToken).ConfigureAwait(false);

    /// <inheritdoc/>
    public IReadOnlyDictionary<(string App, EventClass Class), int> PendingMail => _mail.Pending;

    /// <inheritdoc/>
    public int CountMail(string app, string user, string device) => _mail.Count(app, user, device);

    /// <inheritdoc/>
    public bool HasMail(string app, string user, string device, in Collapse of) => _mail.Has(app, user, device, of);

    /// <inheritdoc/>
    public bool Rests(string app, string id, string user, string device) => _mail.RestsSince(app, id, user, device);

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<RestingEvent>> ReadMailAsync(string app, string user, string device, Collapse? of, CancellationToken cancellationToken)
    {
        await FlushAsync(cancellationToken).ConfigureAwait(false);
        return await _mail.ReadAsync(_database, app, user, device, of, row => row.IsOver(_time.GetUtcNow(), _retention), cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<UnfinishedEvent>> ReadOverAsync(DateTimeOffset until, int most, CancellationToken cancellationToken)
    {
        var over = _mail.TakeOver(until, most);
        var rows = await ReadAsync(
            batch => batch.Add($"SELECT {PostgresEventRow.Columns} FROM pnh.open o JOIN pnh.events e ON e.gen = o.gen AND e.no = o.no WHERE o.cell = 0 AND o.no = ANY($1) ORDER BY o.no")
                .With([.. over.Select(static one => one.Key)]), cancellationToken).ConfigureAwait(false);
        var living = rows.FindAll(row => !row.IsOver(_time.GetUtcNow(), _retention));
        var notes = await PostgresHistories.FindAsync(_database, living, user: null, cancellationToken).ConfigureAwait(false);
        return [.. living.Select(Share).Where(static one => one.Deliveries.Count > 0)];

        UnfinishedEvent Share(PostgresEventRow row)
        {
            var whole = UnfinishedFold.Fold(new EventHistory(row.Event, notes.GetValueOrDefault(row.No) ?? []));
            return whole with { Deliveries = [.. whole.Deliveries.Where(one => one.IsResting && _mail.IsAmong(over[row.No], row.Event.App, one))] };
        }
    }

    /// <inheritdoc cref="IEventJournal.RecoverAsync"/>
    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (List<PostgresEventRow>? page = null; page is null || page.Count == PageRows;)
        {
            var after = page is null ? 0 : page[^1].No;
            page = await ReadAsync(batch => batch.Add(Open).With((long?)after).With(PageRows), cancellationToken).ConfigureAwait(false);
            var notes = await PostgresHistories.FindAsync(_database, page, user: null, cancellationToken).ConfigureAwait(false);
            foreach (var row in page.Where(row => !row.IsOver(_time.GetUtcNow(), _retention)))
            {
                yield return UnfinishedFold.Fold(new EventHistory(row.Event, notes.GetValueOrDefault(row.No) ?? []));
            }
        }
    }

    /// <summary>Writes what is queued and ends the sessions.</summary>
    public async ValueTask DisposeAsync()
    {
        await _writer.DisposeAsync().ConfigureAwait(false);
        await _database.DisposeAsync().ConfigureAwait(false);
    }

    // With everything that was noted before, unless nothing can be written now.
    private async ValueTask<UserEventPage> ReadPageAsync(Func<PostgresPages, Task<UserEventPage>> readAsync, CancellationToken cancellationToken)
    {
        try
        {
            await FlushAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (StoreUnavailableException)
        {
            // What is committed is told all the same.
        }

        return await readAsync(new PostgresPages(_database, _time, _retention)).ConfigureAwait(false);
    }

    private Task<List<PostgresEventRow>> ReadAsync(Action<NpgsqlBatch> ask, CancellationToken cancellationToken) =>
        _database.ReadAsync(ask, rows => PostgresEventRow.ReadAllAsync(rows, cancellationToken), cancellationToken);
}
