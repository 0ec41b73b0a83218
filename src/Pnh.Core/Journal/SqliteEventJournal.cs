using System.Runtime.CompilerServices;
using Pnh.Core.Events;
using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>
/// The journal of one node: <c>journal.db</c> in the data folder, synced once per group of appends. Thread-safe. A
/// <see cref="CancellationToken"/> is honoured until an append is queued; from then on it is written and its result is told.
/// </summary>
public sealed class SqliteEventJournal : IEventJournal, IAsyncDisposable
{
    // Bodies have up to 64 kB: a page holds 8 MB at most.
    private const int PageRows = 128;

    private readonly SqliteEngine _engine;
    private readonly SqliteNotes _notes;
    private readonly TimeProvider _time;
    private readonly TimeSpan _retention;

    private SqliteEventJournal(SqliteEngine engine, SqliteNotes notes, TimeProvider time, TimeSpan retention)
    {
        _engine = engine;
        _notes = notes;
        _time = time;
        _retention = retention;
    }

    /// <summary>Outcomes given up because the disk took nothing for too long; they are decided again after a restart.</summary>
    public long DroppedNotes => _notes.Dropped;

    /// <summary>Closed for good after a failed sync or on a damaged file: every write is refused until it is opened again.</summary>
    public bool IsDamaged => _engine.IsDamaged;

    internal SqliteEngine Engine => _engine;

    /// <summary>Opens or creates <c>journal.db</c>. Throws <see cref="DataFolderException"/> with what to do when that cannot be.</summary>
    /// <param name="folder">An existing folder that this process alone holds (<see cref="DataFolder"/>).</param>
    /// <param name="time">Clock for expiry and retention, and for measuring commits.</param>
    /// <param name="options">Null = the defaults.</param>
    public static SqliteEventJournal Open(string folder, TimeProvider time, JournalOptions? options = null)
    {
        options ??= new JournalOptions();
        var notes = new SqliteNotes();
        var retention = new SqliteRetention(time, options.Retention);
        var engine = SqliteEngine.Open(
            Path.Combine(folder, "journal.db"),
            SqliteJournalSchema.Schema,
            time,
            options.OnSync,
            database =>
            {
                notes.Retry();
                return retention.Sweep(database);
            });
        notes.WriteTo(engine.Writer);
        return new SqliteEventJournal(engine, notes, time, options.Retention);
    }

    /// <inheritdoc/>
    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!accepted.IsDurable)
        {
            throw new ArgumentException("A transient event is not journaled.", nameof(accepted));
        }

        var append = new SqliteAppend(accepted, _retention);
        var task = append.Task;
        _engine.Writer.Enqueue(append);
        return task;
    }

    /// <inheritdoc/>
    public void Note(in Milestone milestone)
    {
        if (milestone.Kind == MilestoneKind.Settled)
        {
            _notes.Add(new(milestone.App, milestone.Event, milestone.User, milestone.Device, milestone.State, milestone.Reason, milestone.At));
        }
    }

    /// <inheritdoc/>
    public void NoteAddress(in AddressNote note)
    {
    }

    /// <inheritdoc/>
    public void Finish(string app, string id) => _notes.Add(new(app, id, null, null, null, null, default));

    /// <inheritdoc/>
    public ValueTask<WithdrawResult> WithdrawAsync(string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <inheritdoc/>
    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <inheritdoc/>
    public ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <inheritdoc/>
    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) => throw new NotSupportedException();

    /// <inheritdoc/>
    public async IAsyncEnumerable<UnfinishedEvent> RecoverAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var now = _time.GetUtcNow();
        var after = 0L;
        List<(long Seq, UnfinishedEvent Event)> page;
        do
        {
            page = await _engine.Readers.ReadAsync(
                (after, now), static (database, at) => SqliteRecovery.Page(database, at.after, at.now, PageRows), cancellationToken);
            foreach (var (seq, unfinished) in page)
            {
                after = seq;
                yield return unfinished;
            }
        }
        while (page.Count == PageRows);
    }

    /// <summary>Writes what is queued, outcomes included, and closes the file. Call once, after the last user of the journal is gone.</summary>
    public ValueTask DisposeAsync()
    {
        _notes.Retry();
        return _engine.DisposeAsync();
    }
}
