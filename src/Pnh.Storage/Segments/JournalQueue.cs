using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments;

/// <summary>
/// What waits for the writer: works, and notes between them, in the order they came. Bounded: a work that does not fit is refused, a note
/// dropped and counted. Thread-safe; taken from by one thread.
/// </summary>
internal sealed class JournalQueue
{
    /// <summary>About 150 bytes each: 40 MB while a disk is full, minutes of outcomes.</summary>
    public const int MostNotes = 262_144;

    private const int MostWorks = 65_536;
    private const long MostBytes = 64 * 1024 * 1024;

    // Notes have no sync of their own before that.
    private static readonly TimeSpan LazyDelay = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan IdleDelay = TimeSpan.FromSeconds(1);

    private readonly object _gate = new();
    private List<JournalWork> _works = [];
    private List<Note> _notes = [];
    private long _bytes;
    private bool _waiting;
    private bool _stopping;
    private int _held;
    private long _dropped;

    /// <summary>Notes given up because the disk took nothing for too long.</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    /// <summary>Notes that a failed group left with the writer: they count towards the bound.</summary>
    public int Held
    {
        get => Volatile.Read(ref _held);
        set => Volatile.Write(ref _held, value);
    }

    public void CountDropped() => Interlocked.Increment(ref _dropped);

    /// <summary>Queues it, or fails it.</summary>
    public void Add(JournalWork work)
    {
        if (Refuse(work) is { } refusal)
        {
            work.Tell(refusal);
        }
    }

    public void Add(RecordKind kind, in Milestone milestone)
    {
        lock (_gate)
        {
            if (_stopping || _notes.Count + Held >= MostNotes)
            {
                Interlocked.Increment(ref _dropped);
                return;
            }

            _notes.Add(new Note(kind, milestone));
            if (_waiting && _notes.Count == 1)
            {
                Monitor.Pulse(_gate);
            }
        }
    }

    /// <summary>Waits for what comes, and gives it in exchange for two empty lists. False = stopping, and nothing is left.</summary>
    public bool Take(ref List<JournalWork> works, ref List<Note> notes)
    {
        lock (_gate)
        {
            while (_works.Count == 0 && !_stopping)
            {
                _waiting = true;
                var pulsed = Monitor.Wait(_gate, _notes.Count > 0 ? LazyDelay : IdleDelay);
                _waiting = false;
                if (!pulsed)
                {
                    break;
                }
            }

            (_works, works) = (works, _works);
            (_notes, notes) = (notes, _notes);
            _bytes = 0;
            return works.Count + notes.Count > 0 || !_stopping;
        }
    }

    /// <summary>Somebody waits, or the end is near: cleaning makes room.</summary>
    public bool HasWork()
    {
        lock (_gate)
        {
            return _works.Count > 0 || _notes.Count > 0 || _stopping;
        }
    }

    /// <summary>From now on everything is refused; what is queued is still written.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _stopping = true;
            Monitor.Pulse(_gate);
        }
    }

    private StoreUnavailableException? Refuse(JournalWork work)
    {
        lock (_gate)
        {
            if (_stopping)
            {
                return DiskFault.Stopping();
            }

            if (_works.Count >= MostWorks || (_bytes > 0 && _bytes + work.MostBytes > MostBytes))
            {
                return DiskFault.Overloaded();
            }

            work.NotesBefore = _notes.Count;
            _works.Add(work);
            _bytes += work.MostBytes + 256;
            if (_waiting && _works.Count == 1)
            {
                Monitor.Pulse(_gate);
            }

            return null;
        }
    }
}
