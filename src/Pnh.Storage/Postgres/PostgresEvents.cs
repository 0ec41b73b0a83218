using System.Runtime.CompilerServices;
using Npgsql;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;

namespace Pnh.Storage.Postgres;

/// <summary>
/// Accepted events in PostgreSQL: which there are, and which are open. The part of a journal that a publisher's answer hangs on; what became of deliveries is not here yet. Thread-safe.
/// </summary>
internal sealed class PostgresEvents : IAsyncDisposable
{
    private const int PageRows = 256;
    private const string Open = $"""
        SELECT {PostgresEventRow.Columns} FROM pnh.open o JOIN pnh.events e ON e.gen = o.gen AND e.no = o.no WHERE o.cell = 0 AND o.state = 0 AND o.no > $1 ORDER BY o.no LIMIT $2
        """;

    private readonly PostgresDatabase _database;
    private readonly PostgresPartitions _partitions;
    private readonly PostgresStanding _standing;
    private readonly PostgresJournalWriter _writer;
    private readonly TimeProvider _time;
    private readonly TimeSpan _retention;

    private PostgresEvents(PostgresDatabase database, PostgresPartitions partitions, PostgresStanding standing, PostgresJournalWriter writer, TimeProvider time, TimeSpan retention) =>
        (_database, _partitions, _standing, _writer, _time, _retention) = (database, partitions, standing, writer, time, retention);

    /// <summary>Why events are refused now, in one line; null = they are taken. It goes by itself.</summary>
    public string? Refusal => _writer.Refusal;

    /// <summary>
    /// Opens the database, takes the journal's lock and begins a term. Throws <see cref="DataFolderException"/> with what to do when the database may not be used, and <see cref="StoreUnavailableException"/> when it cannot be
    /// reached or another process has it.
    /// </summary>
    public static async Task<PostgresEvents> OpenAsync(string connectionString, TimeProvider time, TimeSpan retention, CancellationToken cancellationToken = default)
    {
        var database = await PostgresDatabase.OpenAsync(connectionString, cancellationToken).ConfigureAwait(false);
        NpgsqlConnection? session = null;
        try
        {
            session = await OpenSessionAsync(cancellationToken).ConfigureAwait(false);
            var term = await PostgresDatabase.BeginTermAsync(session, time.GetUtcNow(), cancellationToken).ConfigureAwait(false);
            var partitions = new PostgresPartitions(retention);
            await partitions.ReadAsync(session, cancellationToken).ConfigureAwait(false);
            var standing = new PostgresStanding(time, retention);
            return new PostgresEvents(database, partitions, standing, new PostgresJournalWriter(session, term, partitions, standing, OpenSessionAsync), time, retention);
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

        Task<NpgsqlConnection> OpenSessionAsync(CancellationToken stop) => database.OpenWriterAsync(PostgresLock.Journal, stop);
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
    public void Finish(string app, string id) => _writer.Add(new PostgresMark(app, id, RestsUntil: null));

    /// <summary>Only mail of the event is left, until then: a start does not take it up.</summary>
    public void Rest(string app, string id, DateTimeOffset until) => _writer.Add(new PostgresMark(app, id, until));

    /// <inheritdoc cref="IEventJournal.FindAsync"/>
    public async ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) =>
        await _standing.FindAsync(_database, app, id, cancellationToken).ConfigureAwait(false);

    /// <summary>Every event that is under way, oldest first; expired ones too, until the retention is over.</summary>
    public async IAsyncEnumerable<StoredEvent> RecoverAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        for (List<PostgresEventRow>? page = null; page is null || page.Count == PageRows;)
        {
            page = await ReadAsync(page is null ? 0 : page[^1].No, cancellationToken).ConfigureAwait(false);
            foreach (var row in page.Where(row => !row.IsOver(_time.GetUtcNow(), _retention)))
            {
                yield return row.Event;
            }
        }
    }

    /// <summary>Writes what is queued and ends the sessions.</summary>
    public async ValueTask DisposeAsync()
    {
        await _writer.DisposeAsync().ConfigureAwait(false);
        await _database.DisposeAsync().ConfigureAwait(false);
    }

    private Task<List<PostgresEventRow>> ReadAsync(long after, CancellationToken cancellationToken) => _database.ReadAsync(
        batch => batch.Add(Open).With((long?)after).With(PageRows),
        async rows =>
        {
            var page = new List<PostgresEventRow>();
            while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
            {
                page.Add(PostgresEventRow.Read(rows));
            }

            return page;
        },
        cancellationToken);
}
