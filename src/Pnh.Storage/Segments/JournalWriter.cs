using System.Runtime.InteropServices;
using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Core.Threads;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;
using Pnh.Storage.Segments.Users;

namespace Pnh.Storage.Segments;

/// <summary>
/// The only writer of the log: one thread. It takes everything that is queued, makes records of it, writes them at once, syncs once, tells
/// all waiters, and starts again: no delay, so a group is as large as one sync is slow.
/// </summary>
internal sealed partial class JournalWriter : IAsyncDisposable
{
    // Past a burst: 10 MB of list.
    private const int KeepNotes = 65_536;

    private readonly TaskCompletionSource _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<JournalWork> _applied = [];
    private readonly List<Note> _noted = [];
    private readonly JournalLog _log;
    private readonly Retirement _retirement;
    private readonly NoteHashes _hashes;
    private readonly RecordReader _reader;
    private readonly Refusal _refusal;
    private readonly TimeProvider _time;
    private readonly JournalOptions _options;
    private List<JournalWork> _works = [];
    private List<Note> _notes = [];
    private List<Note> _held = [];
    private List<Note> _retried = [];
    private Exception? _fault;

    // The event of the note before, while nothing but notes was written since: a fan-out brings thousands of one event in a row. By reference: they
    // share their texts.
    private string? _notedApp;
    private string? _notedId;
    private IndexEntry _notedEntry;
    private long _sawTicks;

    // Whether the folder was found to be this hub's after a sync of this turn.
    private bool _isAsked;
    private long _markedAt;

    public JournalWriter(JournalLog log, EventIndex index, UserIndex users, TimeProvider time, JournalOptions options)
    {
        (_log, Index, Users, _time, _options) = (log, index, users, time, options);
        _reader = new RecordReader(log.Segments);
        _hashes = new NoteHashes(index);
        _refusal = new Refusal(time);
        _retirement = new Retirement(this, log, time, options);
        _markedAt = time.GetTimestamp();
    }

    public JournalQueue Queue { get; } = new();

    public EventIndex Index { get; }

    public UserIndex Users { get; }

    /// <summary>The group that is being made.</summary>
    public Group Group { get; } = new();

    /// <summary>As <see cref="Segments.Retirement.Early"/>. Any thread may ask.</summary>
    public long RetiredEarly => _retirement.Early;

    /// <summary>Nothing is written any more, because what is on the disk is not known. Any thread may ask.</summary>
    public bool IsDamaged => _log.Damage is not null;

    /// <summary>Why events are refused now; null = they are taken. Any thread may ask.</summary>
    public StoreUnavailableException? Refusal => _log.Damage ?? _refusal.Fault;

    public void Start() => new Thread(Run) { IsBackground = true, Name = "pnh journal" }.Start();

    /// <summary>Writes what is queued and marks the end.</summary>
    public async ValueTask DisposeAsync()
    {
        Queue.Stop();
        await _ended.Task.ConfigureAwait(false);
    }

    /// <summary>A record on stable storage or in the group, good until the next call. Throws when it is damaged.</summary>
    public Record Read(long position)
    {
        if (Group.TryRead(position, out var record) || _reader.TryRead(position, out record) == ReadResult.Found)
        {
            return record;
        }

        throw _reader.Unreadable(position);
    }

    /// <summary>True when its id need not be recognised any more.</summary>
    public bool IsOver(in IndexEntry entry, in Record record, long now)
    {
        var (acceptedAt, expiresAt) = Payload.Times(record);
        return IndexEntry.IsOver(acceptedAt, expiresAt, entry.IsFinished, _options.Retention, now);
    }

    /// <summary>The event with this key. Of several with one hash, the records decide; a single one is taken at its hash's word, a chance of 2^-64.</summary>
    public bool TryFind(ulong hash, string app, string id, out IndexEntry entry)
    {
        if (Index.TryFindOnly(hash, out entry))
        {
            return true;
        }

        if (entry.IsEmpty)
        {
            return false;
        }

        for (var nth = 0; Index.TryFind(hash, nth, out entry); nth++)
        {
            if (Payload.IsEvent(Read(entry.Root), app, id, out _))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Adds a milestone to the group, and to the event's chain: how the index has it now.</summary>
    public IndexEntry Write(in IndexEntry entry, in Milestone milestone, RecordFlags flags = RecordFlags.None)
    {
        var previous = entry.Head == entry.Root ? 0 : entry.Head;
        var position = Group.Milestone(milestone, RecordKind.Milestone, flags, entry.Root, previous);
        var written = Index.Noted(entry.WithHead(position), milestone);
        Index.Replace(entry, written);
        Users.Add(milestone, position, entry.Root);
        Saw(milestone.At.UtcTicks);
        return written;
    }

    /// <summary>Milestones of the event, of one user (null = all), that a failed group left: they are written when something can be.</summary>
    public List<Milestone> Unwritten(string app, string id, string? user)
    {
        var found = new List<Milestone>();
        foreach (ref readonly var note in CollectionsMarshal.AsSpan(_held))
        {
            if (note.Kind == RecordKind.Milestone && note.Milestone.Event == id && note.Milestone.App == app && (user is null || note.Milestone.User == user))
            {
                found.Add(note.Milestone);
            }
        }

        return found;
    }

    /// <summary>Notes that the registry has the folder's id. False = the next start has to.</summary>
    public bool TryPair() => _log.TryPair();

    /// <summary>Something of that time stands in the group: its segment is kept for the retention from then.</summary>
    public void Saw(long ticks) => _sawTicks = Math.Max(_sawTicks, ticks);

    private void Run()
    {
        _ = ShortSlice.Take();

        // Each sync costs 60 us of CPU, whatever it is of. On a full core others now end their turn first and bring more for the next one: at three times the load from
        // publishers that obey 33,400, 33,100 and 35,200 events accepted per CPU second, without it 24,200 and 29,300; a call's median there 3 to 8 ms, without it 2.
        var busy = new BatchWhileBusy(_time.TimestampFrequency);
        while (Queue.Take(ref _works, ref _notes))
        {
            busy.Found(_works.Count, _time.GetTimestamp());
            Turn(isIdle: _works.Count == 0 && _notes.Count == 0);
            _works.Clear();
            _notes.Clear();
            if (_notes.Capacity > KeepNotes)
            {
                _notes = [];
            }
        }

        Turn(isIdle: true);
        _ = IsLost();
        _log.MarkStop();
        _log.Dispose();
        _reader.Dispose();
        _retirement.Dispose();
        _ended.SetResult();
    }

    private void Turn(bool isIdle)
    {
        _isAsked = false;
        try
        {
            WriteAll();
            Tidy(isIdle);
        }
        catch (Exception bug)
        {
            // No caller is above this thread, and those that wait for an answer must hear of it.
            _log.Break(bug);
            Rollback();
            _applied.Clear();
            foreach (var work in _works)
            {
                if (!work.IsTold)
                {
                    Answers.Tell([work], _log.Damage);
                }
            }
        }
    }

    /// <summary>In the order it came; notes that a failed group left go first.</summary>
    private void WriteAll()
    {
        _fault = _log.Damage;
        Begin();
        (_retried, _held) = (_held, _retried);
        var notes = CollectionsMarshal.AsSpan(_retried);
        _hashes.Begin();
        for (var retried = 0; retried < notes.Length; retried++)
        {
            Apply(notes, retried);
        }

        _retried.Clear();
        notes = CollectionsMarshal.AsSpan(_notes);
        _hashes.Begin();
        foreach (var work in _works)
        {
            work.Prefetch(Index);
        }

        var noted = 0;
        foreach (var work in _works)
        {
            for (; noted < work.NotesBefore; noted++)
            {
                Apply(notes, noted);
            }

            Apply(work);
        }

        for (; noted < notes.Length; noted++)
        {
            Apply(notes, noted);
        }

        var isWritten = !Group.IsEmpty;
        Commit();
        Queue.Held = _held.Count;
        _refusal.Note(_fault, _refusal.Fault is not null && isWritten && _works.Exists(static work => work.MostBytes > 0));
    }
}
