using Npgsql;
using NpgsqlTypes;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>
/// Notes on their way to the database, and the numbers of the events that they are of: of open ones in memory, of others asked for. A note that came before its event was committed waits for that. For the writer's
/// thread.
/// </summary>
/// <param name="partitions">Says where an address note goes.</param>
/// <param name="mail">What rests.</param>
internal sealed class PostgresNoteBook(PostgresPartitions partitions, PostgresMail mail)
{
    private readonly List<PostgresNote> _kept = [];
    private readonly List<PostgresNote> _waiting = [];
    private readonly Dictionary<(string App, string Id), (long No, long Gen)> _open = [];
    private readonly Dictionary<(string App, string Id), (long No, long Gen)> _others = [];
    private readonly Group _scratch = new();
    private List<PostgresNoteRow> _rows = [];
    private int _tried; // of those kept, from the first on: what the last write had

    /// <summary>Notes that are not committed.</summary>
    public int Count => _kept.Count + _waiting.Count;

    /// <summary>The partitions that the next write needs.</summary>
    public IEnumerable<long> Gens => _rows.Select(static row => row.Gen);

    /// <summary>Takes a note, which has its number.</summary>
    public void Add(in PostgresNote note) => _kept.Add(note);

    /// <summary>Looks for the events that the notes are of.</summary>
    /// <param name="session">The writer's.</param>
    /// <param name="appends">What is about to be written: whether these are new is not known yet, so that their notes wait for the next group.</param>
    /// <param name="untaken">The turn of the first work behind these: what was noted later waits too, since its event may be there. Before it, a note of an event that is nowhere is dropped.</param>
    public async Task ResolveAsync(NpgsqlConnection session, List<PostgresAppend> appends, long untaken)
    {
        (_rows, _tried) = ([], 0);
        _kept.InsertRange(0, _waiting);
        _waiting.Clear();
        _others.Clear();
        var pending = appends.ToDictionary(static append => (append.Event.App, append.Event.Id), static append => append.Turn);
        _waiting.AddRange(_kept.Where(Waits));
        _kept.RemoveAll(Waits);
        var unknown = _kept.Where(note => !note.IsAddress && !_open.ContainsKey(note.Event)).Select(static note => note.Event).Distinct().ToList();
        if (unknown.Count > 0)
        {
            await FindAsync(session, unknown).ConfigureAwait(false);
        }

        _kept.RemoveAll(note => !note.IsAddress && NumberOf(note) is null);
        _rows = Rows();
        _tried = _kept.Count;

        bool Waits(PostgresNote note) => !note.IsAddress && (note.Turn > untaken || (pending.TryGetValue(note.Event, out var turn) && note.Turn > turn));
    }

    /// <summary>Adds the statements that write them.</summary>
    public void Write(NpgsqlBatch batch)
    {
        foreach (var ofGen in _rows.GroupBy(static row => row.Gen))
        {
            PostgresNoteRow.Add(batch, ofGen.Key, [.. ofGen]);
        }

        mail.Write(batch, _kept.Where(static note => !note.IsAddress && !note.IsFinish).Select(note => (note, NumberOf(note)!.Value.No, NumberOf(note)!.Value.Gen)));
        var rested = _kept.FindAll(static note => note.IsRest);
        if (rested.Count > 0)
        {
            batch.Add("UPDATE pnh.open SET state = 1 WHERE cell = 0 AND no = ANY($1)").Column(NpgsqlDbType.Bigint, rested, note => NumberOf(note)!.Value.No);
        }

        var finished = _kept.FindAll(static note => note.IsFinish);
        if (finished.Count > 0)
        {
            batch.Add("DELETE FROM pnh.open WHERE cell = 0 AND no = ANY($1)").Column(NpgsqlDbType.Bigint, finished, note => NumberOf(note)!.Value.No);
        }
    }

    /// <summary>All of it is committed, and these events are new.</summary>
    public void Written(IEnumerable<PostgresAppend> appended)
    {
        // Of what is finished or rests little is noted, by and by.
        foreach (var note in _kept.Take(_tried).Where(static note => note.IsFinish || note.IsRest))
        {
            _open.Remove(note.Event);
        }

        mail.Written();
        _kept.RemoveRange(0, _tried);
        _tried = 0;
        _rows = [];
        foreach (var append in appended)
        {
            Stands(append);
        }
    }

    /// <summary>The event is committed: what is noted of its id from here on is of it.</summary>
    public void Stands(PostgresAppend append) => _open[(append.Event.App, append.Event.Id)] = (append.No, append.Gen);

    /// <summary>True when the last write was committed, though its answer was lost: one row of it is there, so all are.</summary>
    public async Task<bool> IsCommittedAsync(NpgsqlConnection session)
    {
        if (_rows.Count == 0)
        {
            return false;
        }

        await using var batch = session.CreateBatch();
        batch.Add("SELECT 1 FROM pnh.notes WHERE gen = $1 AND no = $2 AND n = $3").With((long?)_rows[0].Gen).With((long?)_rows[0].No).With((long?)_rows[0].N);
        return await batch.ExecuteScalarAsync().ConfigureAwait(false) is not null;
    }

    private (long No, long Gen)? NumberOf(in PostgresNote note) =>
        _open.TryGetValue(note.Event, out var open) ? open : _others.TryGetValue(note.Event, out var other) ? other : null;

    // Of an event and a user one row, which its notes share up to one of the feed; of an address each its own.
    private List<PostgresNoteRow> Rows()
    {
        var rows = new List<PostgresNoteRow>();
        var shared = new Dictionary<(long No, string User), PostgresNoteRow>();
        foreach (var note in _kept.Where(static note => !note.IsFinish))
        {
            var milestone = note.Milestone;
            var (no, gen) = note.IsAddress ? (0, partitions.Of(milestone.At, milestone.At)) : NumberOf(note)!.Value;
            var user = note.IsAddress ? "" : milestone.User ?? "";
            if (note.IsAddress || !shared.TryGetValue((no, user), out var row))
            {
                rows.Add(row = new PostgresNoteRow(gen, no, milestone.App, user));
                shared[(no, user)] = row;
            }

            row.Add(note, _scratch);
            if (row.Feeds)
            {
                shared.Remove((no, user));
            }
        }

        return rows;
    }

    private async Task FindAsync(NpgsqlConnection session, List<(string App, string Id)> events)
    {
        await using var batch = session.CreateBatch();
        batch.Add("SELECT x.app, x.id, x.no, x.gen FROM unnest($1, $2) AS named(app, id) JOIN pnh.events x ON x.app = named.app AND x.id = named.id ORDER BY x.no")
            .Column(NpgsqlDbType.Text, events, static one => one.App).Column(NpgsqlDbType.Text, events, static one => one.Id);
        await using var rows = await batch.ExecuteReaderAsync().ConfigureAwait(false);
        while (await rows.ReadAsync().ConfigureAwait(false))
        {
            _others[(rows.GetString(0), rows.GetString(1))] = (rows.GetInt64(2), rows.GetInt64(3));
        }
    }
}
