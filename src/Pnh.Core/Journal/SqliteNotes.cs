using System.Runtime.InteropServices;
using Pnh.Core.Devices;
using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>
/// Outcomes on their way to the file: nobody waits for them, so they ride with the next group. What a failed group did not write stays and is
/// tried again; over the bound new ones are dropped and counted (a restart then decides those deliveries again). <see cref="Add"/> is thread-safe.
/// </summary>
internal sealed class SqliteNotes : SqliteWork
{
    // About 100 bytes each: 25 MB while a disk is full, minutes of outcomes.
    private const int Most = 262_144;

    private const string Settle = """
        INSERT OR REPLACE INTO settled(seq, user, device, state, reason, at) SELECT seq, ?3, ?4, ?5, ?6, ?7 FROM events WHERE app = ?1 AND id = ?2
        """;

    private const string Finish = "DELETE FROM unfinished WHERE seq = (SELECT seq FROM events WHERE app = ?1 AND id = ?2)";

    private readonly Lock _gate = new();
    private readonly List<Note> _waiting = [];
    private readonly List<Note> _taken = [];
    private SqliteWriter? _writer;
    private bool _scheduled;
    private long _dropped;

    /// <summary>How many were given up since start.</summary>
    public long Dropped => Interlocked.Read(ref _dropped);

    public override int Bytes => 0;

    /// <summary>Before the first <see cref="Add"/>.</summary>
    public void WriteTo(SqliteWriter writer) => _writer = writer;

    public void Add(in Note note)
    {
        bool schedule;
        lock (_gate)
        {
            if (_waiting.Count >= Most)
            {
                Interlocked.Increment(ref _dropped);
                return;
            }

            _waiting.Add(note);
            schedule = !_scheduled;
            _scheduled = true;
        }

        if (schedule)
        {
            _writer!.Enqueue(this, lazy: true);
        }
    }

    /// <summary>Queues again what a failed group left; called about once a second and before the end.</summary>
    public void Retry()
    {
        lock (_gate)
        {
            if (_scheduled || _waiting.Count + _taken.Count == 0)
            {
                return;
            }

            _scheduled = true;
        }

        _writer!.Enqueue(this, lazy: true);
    }

    public override void Apply(SqliteDatabase database)
    {
        lock (_gate)
        {
            if (_taken.Count < Most)
            {
                _taken.AddRange(_waiting);
                _waiting.Clear();
            }
        }

        foreach (ref readonly var note in CollectionsMarshal.AsSpan(_taken))
        {
            Write(database, note);
        }
    }

    public override void Committed()
    {
        _taken.Clear();
        Done();
        Retry();
    }

    public override void Failed(Exception reason)
    {
        if (reason is not StoreUnavailableException)
        {
            // Not the disk: one of them can never be written, and trying for ever would hold all after it.
            Interlocked.Add(ref _dropped, _taken.Count);
            _taken.Clear();
        }

        Done();
    }

    private static void Write(SqliteDatabase database, in Note note)
    {
        if (note.State is null)
        {
            database.Statement(Finish).Bind(1, note.App).Bind(2, note.Id).Execute();
        }
        else
        {
            database.Statement(Settle)
                .Bind(1, note.App).Bind(2, note.Id).Bind(3, note.User).Bind(4, note.Device)
                .Bind(5, note.State).Bind(6, note.Reason).Bind(7, note.At).Execute();
        }
    }

    private void Done()
    {
        lock (_gate)
        {
            _scheduled = false;
        }
    }

    /// <summary>A settled delivery, or (no state) a finished event. Holds ids, not the event, so that bodies can go.</summary>
    internal readonly record struct Note(string App, string Id, string? User, string? Device, string? State, string? Reason, DateTimeOffset At);
}
