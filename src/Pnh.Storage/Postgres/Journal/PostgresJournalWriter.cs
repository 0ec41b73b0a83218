using System.Collections.Concurrent;
using System.Threading.Channels;
using Npgsql;
using Pnh.Core.Stores;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>
/// The one session that writes the journal; it holds the journal's advisory lock. What came during one commit is the next group's, so commits have one order, and numbers rise with it. A commit whose answer was lost is
/// asked for once on the next session: there is all of it, or nothing. Notes are kept until they are written. Thread-safe.
/// </summary>
internal sealed class PostgresJournalWriter : IAsyncDisposable
{
    private const int MostEvents = 512;
    private const int MostNotes = 8_192;
    private const int MostBytes = 4 * 1024 * 1024;
    private const int CountBits = 20;

    // A note waits no longer for others.
    private static readonly TimeSpan NoteDelay = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan RetryDelay = TimeSpan.FromSeconds(1);

    private readonly PostgresPartitions _partitions;
    private readonly PostgresStanding _standing;
    private readonly Func<CancellationToken, Task<NpgsqlConnection>> _openAsync;
    private readonly Channel<PostgresJournalWork?> _queue = Channel.CreateUnbounded<PostgresJournalWork?>(new UnboundedChannelOptions { SingleReader = true });
    private readonly ConcurrentQueue<PostgresNote> _notes = new();
    private readonly PostgresNoteBook _book;
    private readonly List<PostgresFlush> _flushes = [];
    private readonly List<PostgresWithdraw> _withdrawals = [];
    private readonly Task _run;
    private NpgsqlConnection? _session;
    private long _no;
    private long _n;
    private bool _areNotesTaken; // all that were there when the group was made
    private long _untaken; // the turn of the first work behind the group
    private long _turn;
    private int _sleeps; // 1 = a note has to wake the writer

    /// <param name="session">Open, with its lock.</param>
    /// <param name="term">The turn to write that was begun on it.</param>
    /// <param name="partitions">Those that there are.</param>
    /// <param name="mail">What rests.</param>
    /// <param name="standing">Finds events whose id stands.</param>
    /// <param name="openAsync">Opens another session with the lock.</param>
    public PostgresJournalWriter(NpgsqlConnection session, long term, PostgresPartitions partitions, PostgresMail mail, PostgresStanding standing, Func<CancellationToken, Task<NpgsqlConnection>> openAsync)
    {
        (_session, _partitions, _standing, _openAsync) = (session, partitions, standing, openAsync);
        _book = new PostgresNoteBook(partitions, mail);
        _no = _n = term << CountBits;
        _run = Task.Run(RunAsync);
    }

    /// <summary>Why nothing is written now; null = the last group was written.</summary>
    public string? Refusal { get; private set; }

    /// <summary>No note has a greater number yet.</summary>
    public long Newest => Volatile.Read(ref _n);

    /// <summary>Queues what is waited for.</summary>
    public void Add(PostgresJournalWork work)
    {
        work.Turn = Interlocked.Increment(ref _turn);
        if (!_queue.Writer.TryWrite(work))
        {
            work.Fail(new StoreUnavailableException("The journal is closed."));
        }
    }

    /// <summary>Queues what nobody waits for: written with the next commit, some 50 ms later at the latest.</summary>
    public void Add(in PostgresNote note)
    {
        _notes.Enqueue(note with { Turn = Interlocked.Increment(ref _turn) });
        if (Volatile.Read(ref _sleeps) != 0 && Interlocked.Exchange(ref _sleeps, 0) != 0)
        {
            _queue.Writer.TryWrite(null); // wakes the writer, which then waits a moment for other notes
        }
    }

    /// <summary>Writes what is queued and ends the session.</summary>
    public async ValueTask DisposeAsync()
    {
        _queue.Writer.TryComplete();
        await _run.ConfigureAwait(false);
        await EndSessionAsync().ConfigureAwait(false);
    }

    private async Task RunAsync()
    {
        var appends = new List<PostgresAppend>(MostEvents);
        while (await WaitAsync().ConfigureAwait(false))
        {
            Take(appends);
            await CommitAsync(appends).ConfigureAwait(false);
        }

        _flushes.ForEach(static flush => flush.Fail(new StoreUnavailableException("The journal is closed.")));
    }

    // False = closed, and nothing is left to write.
    private async Task<bool> WaitAsync()
    {
        while (_queue.Reader.TryPeek(out var first) && first is null)
        {
            _queue.Reader.TryRead(out _);
        }

        if (_queue.Reader.TryPeek(out _))
        {
            return true;
        }

        var hasNotes = _book.Count > 0 || !_notes.IsEmpty;
        if (_queue.Reader.Completion.IsCompleted)
        {
            return hasNotes && Refusal is null; // once more, and no longer
        }

        if (!hasNotes)
        {
            Interlocked.Exchange(ref _sleeps, 1);
            await (_notes.IsEmpty ? _queue.Reader.WaitToReadAsync().AsTask() : Task.CompletedTask).ConfigureAwait(false);
            Interlocked.Exchange(ref _sleeps, 0);
            return await WaitAsync().ConfigureAwait(false);
        }

        var more = _queue.Reader.WaitToReadAsync().AsTask();
        await Task.WhenAny(more, Task.Delay(Refusal is null ? NoteDelay : RetryDelay)).ConfigureAwait(false);
        return true;
    }

    private void Take(List<PostgresAppend> appends)
    {
        appends.Clear();
        var (bytes, ids) = (0, new HashSet<(string App, string Id)>());
        while (appends.Count < MostEvents && bytes < MostBytes && _queue.Reader.TryPeek(out var next))
        {
            // Two of one id: the second one is compared with the first, which has to stand by then.
            if (next is PostgresAppend repeated && !ids.Add((repeated.Event.App, repeated.Event.Id)))
            {
                break;
            }

            _queue.Reader.TryRead(out _);
            if (next is PostgresAppend append)
            {
                bytes += append.Event.Body.Length;
                append.No = append.No == 0 ? ++_no : append.No;
                appends.Add(append);
            }
            else if (next is PostgresFlush flush)
            {
                _flushes.Add(flush);
            }
            else if (next is PostgresWithdraw withdrawal)
            {
                _withdrawals.Add(withdrawal);
            }
        }

        while (_book.Count < MostNotes && _notes.TryDequeue(out var note))
        {
            _book.Add(note with { N = ++_n });
        }

        _areNotesTaken = _book.Count < MostNotes;
        _untaken = _queue.Reader.TryPeek(out var left) && left is not null ? left.Turn : long.MaxValue;
    }

    private async Task CommitAsync(List<PostgresAppend> appends, bool isAgain = false)
    {
        try
        {
            var session = _session ?? await OpenAsync(appends).ConfigureAwait(false);
            await WriteAsync(session, appends).ConfigureAwait(false);
            await WithdrawAsync(session).ConfigureAwait(false);
            Refusal = null;
            EndFlushes();
        }
        catch (Exception fault) when (PostgresFault.IsOfData(fault) && appends.Count > 1)
        {
            // One of them cannot be written: the others are not to hear of it.
            foreach (var one in appends)
            {
                await CommitAsync([one]).ConfigureAwait(false);
            }
        }
        catch (Exception fault)
        {
            var isBroken = PostgresFault.IsBroken(fault) && _session is not null;
            if (isBroken)
            {
                await EndSessionAsync().ConfigureAwait(false);
            }

            if (isBroken && !isAgain)
            {
                await CommitAsync(appends, isAgain: true).ConfigureAwait(false);
            }
            else
            {
                Refuse(appends, fault);
            }
        }
    }

    private void EndFlushes()
    {
        if (_areNotesTaken && _book.Count == 0)
        {
            _flushes.ForEach(static flush => flush.Done());
            _flushes.Clear();
        }
    }

    private void Refuse(List<PostgresAppend> appends, Exception fault)
    {
        var refusal = PostgresFault.Is(fault) ? PostgresFault.Of(fault) : fault;
        Refusal = refusal.Message;
        appends.ForEach(append => append.Fail(refusal));
        _flushes.ForEach(flush => flush.Fail(refusal));
        _flushes.Clear();
        _withdrawals.ForEach(withdrawal => withdrawal.Fail(refusal));
        _withdrawals.Clear();
    }

    // A new session, after the one before broke: of a group whose answer was lost, all is there or nothing.
    private async Task<NpgsqlConnection> OpenAsync(List<PostgresAppend> appends)
    {
        var session = await _openAsync(CancellationToken.None).ConfigureAwait(false);
        var written = await PostgresStanding.FindAsync(session, appends.ConvertAll(static append => append.No)).ConfigureAwait(false);
        if (written.Count > 0 || await _book.IsCommittedAsync(session).ConfigureAwait(false))
        {
            var committed = appends.FindAll(append => written.Contains(append.No));
            _book.Written(committed);
            appends.RemoveAll(append => written.Contains(append.No));
            committed.ForEach(static append => append.Appended());
        }

        return _session = session;
    }

    private async Task WriteAsync(NpgsqlConnection session, List<PostgresAppend> appends)
    {
        await _book.ResolveAsync(session, appends, _untaken).ConfigureAwait(false);
        foreach (var gen in appends.Select(static append => append.Gen).Concat(_book.Gens).Distinct())
        {
            await _partitions.MakeAsync(session, gen, CancellationToken.None).ConfigureAwait(false);
        }

        var written = new HashSet<long>();
        await using (var batch = session.CreateBatch())
        {
            var groups = appends.GroupBy(static append => (append.Gen, append.Event.IdGiven)).ToList();
            groups.ForEach(group => PostgresAppend.Add(batch, group.Key.Gen, group.Key.IdGiven, [.. group]));
            _book.Write(batch);
            if (batch.BatchCommands.Count > 0)
            {
                await PostgresAppend.ReadAsync(batch, groups.Count, written).ConfigureAwait(false);
            }
        }

        _book.Written(appends.Where(append => written.Contains(append.No)));
        foreach (var append in appends.Where(append => !written.Contains(append.No)).ToList())
        {
            // Its id stands somewhere. Where that one is over, its id is free.
            if (await _standing.TryReplaceAsync(session, append).ConfigureAwait(false))
            {
                _book.Stands(append);
            }
            else
            {
                appends.Remove(append);
            }
        }

        appends.ForEach(static append => append.Appended());
    }

    // One by one, behind the notes: they are few.
    private async Task WithdrawAsync(NpgsqlConnection session)
    {
        for (; _withdrawals.Count > 0; _withdrawals.RemoveAt(0))
        {
            var withdrawal = _withdrawals[0];
            withdrawal.Done(await PostgresWithdrawals.RunAsync(session, _standing, withdrawal, ++_n).ConfigureAwait(false));
        }
    }

    private async Task EndSessionAsync()
    {
        if (_session is { } session)
        {
            _session = null;
            await session.DisposeAsync().ConfigureAwait(false);
        }
    }
}
