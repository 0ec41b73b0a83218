using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Reads;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Segments;

/// <summary>
/// The journal of one node: segments in <c>journal/</c> of the data folder, synced once per group. Thread-safe. A
/// <see cref="CancellationToken"/> is honoured until work is queued; from then on it is written and the caller gets its result.
/// </summary>
public sealed partial class SegmentJournal : IEventJournal, IAsyncDisposable
{
    private const int LeastSegment = 256 * 1024;
    private const int MostSegment = 1024 * 1024 * 1024;

    private readonly EventIndex _index;
    private readonly JournalWriter _writer;
    private readonly HistoryReader _reader;
    private readonly UserHistoryReader _ofUser;
    private readonly FeedReader _feed;
    private readonly UnfinishedReader _unfinished;
    private readonly EventPages _pages;
    private readonly SegmentSet _segments;
    private readonly TimeProvider _time;
    private readonly JournalOptions _options;
    private int _disposed;

    private SegmentJournal(EventIndex index, JournalLog log, IJournalFolder? tables, int damaged, TimeProvider time, JournalOptions options)
    {
        (_index, _segments, _time, _options, DamagedRecords) = (index, log.Segments, time, options, damaged);
        _segments.FoundDamage = options.FoundDamage;
        (FolderId, IsPaired, PendingMail) = (log.Manifest.Folder, log.Manifest.IsPaired, index.TakePending());
        (_reader, _feed) = (new HistoryReader(log.Segments), new FeedReader(log.Segments));
        _ofUser = new UserHistoryReader(log.Segments, _reader);
        _pages = new EventPages(log.Segments, index, tables, options.Retention);
        _unfinished = new UnfinishedReader(_reader, _ofUser, index, FindAsync, options.Retention, time);
        _writer = new JournalWriter(log, index, _pages.Users, time, options);
        _writer.Start();
    }

    /// <summary>Milestones given up because the disk took nothing for too long; what they told is decided again after a restart.</summary>
    public long DroppedNotes => _writer.Queue.Dropped;

    /// <summary>Closed for good after a failed sync: every write is refused until it is opened again.</summary>
    public bool IsDamaged => _writer.IsDamaged;

    /// <summary>Why every event is refused now, in one line without paths; null = they are taken. It goes by itself, unless <see cref="IsDamaged"/>.</summary>
    public string? Refusal => _writer.Refusal?.Message;

    /// <summary>How far back the log goes and can go; reads no file.</summary>
    public LogReach Reach => LogReach.Of(_segments, _options.MaxBytes, _options.Retention, _time.GetUtcNow(), _writer.RetiredEarly);

    /// <summary>Damaged stretches that opening put aside, and damaged places that reads found since; 0 = none.</summary>
    public int DamagedRecords { get => field + _segments.Damaged; }

    /// <summary>The id of the data folder, which the registry beside it has too; made with the journal, never 0.</summary>
    public int FolderId { get; }

    /// <summary>True when the registry beside it was given the id before this start.</summary>
    public bool IsPaired { get; }

    /// <summary>Opens or creates the log and reads it once. Throws <see cref="DataFolderException"/> with what to do when that cannot be.</summary>
    /// <param name="folder">An existing folder that this process alone holds (<see cref="DataFolder"/>).</param>
    /// <param name="time">Clock for expiry and retention, and for measuring commits.</param>
    /// <param name="options">Null = the defaults.</param>
    public static SegmentJournal Open(string folder, TimeProvider time, JournalOptions? options = null)
    {
        var path = Path.Combine(Path.GetFullPath(folder), "journal");
        try
        {
            FormerJournal.Refuse(folder, time.GetUtcNow());
            var journal = DiskFolder.At(path);
            return Open(journal, time, options, () => journal.Inside("users"));
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            throw new DataFolderException(
                FileFault.Advice(fault, path) is { } advice ? advice + "." : $"{path} cannot be used: {fault.Message.TrimEnd('.')}. Give the hub's user the rights to it, or set Pnh:Data to another folder.", fault);
        }
    }

    /// <summary>Notes for the next start that the registry has the id.</summary>
    public async Task PairAsync()
    {
        if (!IsPaired)
        {
            await AskAsync(_ => _writer.TryPair()).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public ValueTask<AppendResult> AppendAsync(Event accepted, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (!accepted.IsDurable)
        {
            throw new ArgumentException("A transient event is not journaled.", nameof(accepted));
        }

        var append = new AppendWork(accepted, _index.Hash.Of(accepted.App, accepted.Id));
        if (append.MostBytes > Record.MostBytes)
        {
            throw new ArgumentException("The body is too large.", nameof(accepted));
        }

        var task = append.Task;
        _writer.Queue.Add(append);
        return task;
    }

    /// <inheritdoc/>
    public void Note(in Milestone milestone) => _writer.Queue.Add(RecordKind.Milestone, milestone);

    /// <inheritdoc/>
    public async ValueTask FlushAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var flush = new FlushWork();
        _writer.Queue.Add(flush);
        await flush.Task.WaitAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public void Finish(string app, string id) => _writer.Queue.Add(RecordKind.Finished, new Milestone(app, id, default, default, default));

    /// <inheritdoc/>
    public void NoteAddress(in AddressNote note) => _writer.Queue.Add(RecordKind.Address, Payload.FromAddress(note));

    /// <inheritdoc/>
    public async ValueTask<WithdrawResult> WithdrawAsync(
        string app, string id, string? user, string reason, DateTimeOffset at, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var withdrawal = new Milestone(app, id, default, MilestoneKind.Withdrawn, at) { User = user, Reason = reason };
        var result = await QueueAsync(app, id, user, withdrawal).ConfigureAwait(false);
        if (result is not { Status: WithdrawStatus.Withdrawn, History: null })
        {
            return result;
        }

        // Its segment was removed before the history was read: it was carried on, this withdrawal with it.
        var history = await ReadPartAsync(app, id, user, CancellationToken.None).ConfigureAwait(false);
        return result with { History = history?.Before(user) };
    }

    /// <inheritdoc/>
    public ValueTask<EventHistory?> ReadAsync(string app, string id, CancellationToken cancellationToken) => ReadPartAsync(app, id, null, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<EventHistory?> ReadAsync(string app, string id, string user, CancellationToken cancellationToken) => ReadPartAsync(app, id, user, cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<StoredEvent?> FindAsync(string app, string id, CancellationToken cancellationToken)
    {
        (StoredEvent? found, var now) = (null, _time.GetUtcNow().UtcTicks);
        var isKnown = await Task.Run(() => _reader.TryFind(_index, app, id, _options.Retention, now, out found), cancellationToken).ConfigureAwait(false);
        return isKnown ? found : (await ReadAsync(app, id, cancellationToken).ConfigureAwait(false))?.Event;
    }

    /// <inheritdoc/>
    public ValueTask<UserEventPage> ReadFailuresAsync(string app, string? before, int limit, CancellationToken cancellationToken) =>
        ReadUserAsync(app, EventPages.Failures, before, limit, cancellationToken);

    /// <inheritdoc/>
    public async ValueTask<UserEventPage> ReadRecentAsync(string app, string? before, int limit, CancellationToken cancellationToken)
    {
        var (threads, now) = (TaskScheduler.Current, _time.GetUtcNow().UtcTicks);
        await TryFlushAsync(cancellationToken).ConfigureAwait(false);
        return await Task.Factory.StartNew(() => _pages.ReadRecent(app, before, limit, now), cancellationToken, TaskCreationOptions.DenyChildAttach, threads).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public async ValueTask<UserEventPage> ReadUserAsync(string app, string user, string? before, int limit, CancellationToken cancellationToken)
    {
        var (threads, now) = (TaskScheduler.Current, _time.GetUtcNow().UtcTicks);
        await TryFlushAsync(cancellationToken).ConfigureAwait(false);
        return await _pages.ReadAsync(app, user, before, limit, now, threads, ReadPartAsync, cancellationToken).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public ValueTask<FeedPage> ReadFeedAsync(string app, string? after, int limit, CancellationToken cancellationToken) =>
        new(Task.Factory.StartNew(() => _feed.Read(app, after, limit), cancellationToken, TaskCreationOptions.DenyChildAttach, TaskScheduler.Current));

    /// <summary>Writes what is queued, notes included, and closes the files. Call after the last user of the journal is gone.</summary>
    public async ValueTask DisposeAsync()
    {
        // A container disposes once per service type.
        if (Interlocked.Exchange(ref _disposed, 1) == 0)
        {
            await _writer.DisposeAsync().ConfigureAwait(false);
            _ofUser.Dispose();
            _pages.Dispose();
            _segments.Close();
        }
    }

    /// <summary>The same on any folder.</summary>
    internal static SegmentJournal Open(IJournalFolder folder, TimeProvider time, JournalOptions? options, Func<IJournalFolder>? tables = null)
    {
        options ??= new JournalOptions();
        options = options with { SegmentBytes = Math.Clamp(options.SegmentBytes, LeastSegment, MostSegment) & -Record.Alignment };
        var index = new EventIndex();
        using var recovery = new Recovery(folder, index, options);
        var log = recovery.Run(time.GetUtcNow());
        return new SegmentJournal(index, log, tables?.Invoke(), recovery.DamagedRecords, time, options);
    }

    // Where nothing can be written now, what stands is answered all the same.
    private async ValueTask TryFlushAsync(CancellationToken cancellationToken)
    {
        try
        {
            await FlushAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (StoreUnavailableException)
        {
            // See above.
        }
    }

    private async ValueTask<EventHistory?> ReadPartAsync(string app, string id, string? user, CancellationToken cancellationToken)
    {
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var result = await QueueAsync(app, id, user, null).ConfigureAwait(false);
            if (result is not { Status: WithdrawStatus.Withdrawn, History: null })
            {
                return result.History;
            }
        }
    }

    private Task<WithdrawResult> QueueAsync(string app, string id, string? user, Milestone? withdrawal)
    {
        var work = new HistoryWork(_reader, _ofUser, app, id, _index.Hash.Of(app, id), user, withdrawal, _time.GetUtcNow().UtcTicks);
        _writer.Queue.Add(work);
        return work.Task;
    }

    private Task<T> AskAsync<T>(Func<EventIndex, T> ask)
    {
        var work = new IndexWork<T>(ask);
        _writer.Queue.Add(work);
        return work.Task;
    }
}
