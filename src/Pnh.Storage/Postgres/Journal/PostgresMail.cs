using Npgsql;
using NpgsqlTypes;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Postgres.Journal;

/// <summary>
/// What rests for which device: rows that a start reads, and a table in memory that is asked without a wait. Events are in it by their numbers. Changes come from the writer's thread and count from the commit on; all
/// else is thread-safe.
/// </summary>
internal sealed class PostgresMail
{
    private const string OfDevice = $"""
        SELECT {PostgresEventRow.Columns}, m.settled, m.alone FROM unnest($1) AS f(no)
        JOIN pnh.open o ON o.cell = 0 AND o.no = f.no
        JOIN pnh.events e ON e.gen = o.gen AND e.no = o.no
        JOIN pnh.mail m ON m.gen = o.gen AND m.no = o.no AND m.user_ = $2 AND m.device = $3
        WHERE m.app = $4 AND ($5::smallint IS NULL OR (m.class = $5 AND m.collapse = $6))
            AND NOT EXISTS (SELECT 1 FROM pnh.taken_back t WHERE t.gen = o.gen AND t.no = o.no AND t.user_ IN ('', $2))
        ORDER BY e.accepted, e.no
        """;

    private const int MostRecent = 65_536;
    private readonly MailTable _table = new();
    private readonly EventIdHash _hash = new();

    // What was committed to rest last: the table knows an event by its number alone, and whoever asks has its id. Two generations, so that it is bounded.
    private readonly Lock _gate = new();
    private readonly List<(ulong Device, ulong Event, bool IsRest)> _changes = [];
    private HashSet<(ulong Device, ulong Event)> _recent = [];
    private HashSet<(ulong Device, ulong Event)> _before = [];

    /// <summary>How many rested without an end when this was opened.</summary>
    public IReadOnlyDictionary<(string App, EventClass Class), int> Pending { get; private set; } = new Dictionary<(string App, EventClass Class), int>();

    /// <summary>Reads what rests.</summary>
    public async Task OpenAsync(NpgsqlConnection session, CancellationToken cancellationToken)
    {
        await using var batch = session.CreateBatch();
        batch.Add("SELECT m.app, m.class, count(*) FROM pnh.mail m JOIN pnh.open o ON o.cell = 0 AND o.no = m.no WHERE NOT m.settled GROUP BY m.app, m.class");
        batch.Add("SELECT m.app, m.user_, m.device, m.no, m.ends, m.class, m.collapse FROM pnh.mail m JOIN pnh.open o ON o.cell = 0 AND o.no = m.no");
        await using var rows = await batch.ExecuteReaderAsync(cancellationToken).ConfigureAwait(false);
        var pending = new Dictionary<(string App, EventClass Class), int>();
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            pending[(rows.GetString(0), (EventClass)rows.GetInt16(1))] = (int)rows.GetInt64(2);
        }

        Pending = pending;
        await rows.NextResultAsync(cancellationToken).ConfigureAwait(false);
        while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
        {
            _table.Put(
                _hash.Of(rows.GetString(0), rows.GetString(1), rows.GetString(2)), (ulong)rows.GetInt64(3), MailTable.SecondsOf(rows.Time(4)),
                rows.TextOrNull(6) is { } key ? KeyOf(new Collapse((EventClass)rows.GetInt16(5), key)) : 0);
        }
    }

    /// <summary>How many events may rest for the device.</summary>
    public int Count(string app, string user, string device) => _table.Count(_hash.Of(app, user, device));

    /// <summary>Whether one of that key may rest for the device.</summary>
    public bool Has(string app, string user, string device, in Collapse of) => _table.Has(_hash.Of(app, user, device), KeyOf(of));

    /// <summary>True when it was committed not long ago that the event rests for the device; false = perhaps all the same, and noting it again makes it known.</summary>
    public bool RestsSince(string app, string id, string user, string device)
    {
        var key = (_hash.Of(app, user, device), _hash.Of(app, id));
        lock (_gate)
        {
            return _recent.Contains(key) || _before.Contains(key);
        }
    }

    /// <summary>Whether the event rests for the device.</summary>
    public bool Has(string app, string user, string device, long no) => _table.Has(_hash.Of(app, user, device), (ulong)no);

    /// <summary>As <see cref="IEventJournal.ReadMailAsync"/>, of what is committed.</summary>
    public async Task<List<RestingEvent>> ReadAsync(
        PostgresDatabase database, string app, string user, string device, Collapse? of, Func<PostgresEventRow, bool> isOver, CancellationToken cancellationToken)
    {
        var numbers = _table.Find(_hash.Of(app, user, device), of is { } key ? KeyOf(key) : 0).ConvertAll(static no => (long)no);
        return numbers.Count == 0 ? [] : await database.ReadAsync(
            batch => batch.Add(OfDevice).With(numbers.ToArray()).With(user).With(device).With(app).With((short?)of?.Class).With(of?.Key),
            async rows =>
            {
                var found = new List<RestingEvent>();
                while (await rows.ReadAsync(cancellationToken).ConfigureAwait(false))
                {
                    if (PostgresEventRow.Read(rows) is var row && !isOver(row))
                    {
                        found.Add(new RestingEvent(row.Event, rows.GetBoolean(11), rows.GetBoolean(12)));
                    }
                }

                return found;
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Takes out what is over then: events by their numbers, each with those devices, which <see cref="IsAmong"/> knows.</summary>
    public ILookup<long, ulong> TakeOver(DateTimeOffset until, int most) =>
        _table.TakeOver(MailTable.SecondsOf(until), most).ToLookup(static one => (long)one.Event, static one => one.Device);

    /// <summary>True when the device is one of these.</summary>
    public bool IsAmong(IEnumerable<ulong> devices, string app, UnfinishedDelivery delivery) =>
        devices.Contains(MailTable.KeyOf(_hash.Of(app, delivery.User, delivery.Device)));

    /// <summary>Adds the statements that change what these notes change, which have their events' numbers.</summary>
    public void Write(NpgsqlBatch batch, IEnumerable<(PostgresNote Note, long No, long Gen)> notes)
    {
        _table.TakeBack();
        _changes.Clear();
        var last = new Dictionary<(long No, string User, string Device), (PostgresNote Note, long Gen, bool IsSettled)>();
        foreach (var (note, no, gen) in notes)
        {
            if (note.Milestone is { User: { } user, Device: { } device, Kind: var kind } milestone && (kind is MilestoneKind.Rested or MilestoneKind.Settled || milestone.EndsRest))
            {
                var key = (no, user, device);
                last[key] = kind == MilestoneKind.Settled && milestone.IsKept
                    ? last.TryGetValue(key, out var before) && before.Note.Milestone.Kind == MilestoneKind.Rested ? before with { IsSettled = true } : (note, gen, true)
                    : (note, gen, milestone.State is not null);
            }
        }

        foreach (var ofGen in last.GroupBy(static one => one.Value.Gen))
        {
            Write(batch, ofGen.Key, [.. ofGen.Select(static one => new Change(one.Key.No, one.Key.User, one.Key.Device, one.Value.Note.Milestone, one.Value.IsSettled))]);
        }
    }

    /// <summary>They are committed.</summary>
    public void Written()
    {
        _table.Keep();
        lock (_gate)
        {
            foreach (var (device, id, isRest) in _changes)
            {
                _recent.Remove((device, id));
                _before.Remove((device, id));
                if (isRest)
                {
                    _recent.Add((device, id));
                }
            }

            if (_recent.Count > MostRecent)
            {
                (_recent, _before) = (_before, _recent);
                _recent.Clear();
            }
        }

        _changes.Clear();
    }

    private uint KeyOf(in Collapse of) => (uint)_hash.Of(of.Class.Label(), of.Key) | 1;

    private void Write(NpgsqlBatch batch, long gen, List<Change> changes)
    {
        var table = PostgresPartitions.TableOf("pnh.mail", gen);
        var rested = changes.FindAll(static change => change.Milestone.Kind == MilestoneKind.Rested);
        var ended = changes.FindAll(change => change.Milestone.EndsRest && Has(change.Milestone.App, change.User, change.Device, change.No));
        var settled = changes.FindAll(change => change.Milestone is { Kind: MilestoneKind.Settled, IsKept: true } && Has(change.Milestone.App, change.User, change.Device, change.No));
        if (rested.Count > 0)
        {
            Places(batch.Add($"""
                INSERT INTO {table}(gen, no, user_, device, app, class, ends, collapse, settled, alone) SELECT $9, r.* FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $10) AS r(no, user_, device, app, class, ends, collapse, settled, alone)
                ON CONFLICT(no, user_, device) DO UPDATE SET class = excluded.class, ends = excluded.ends, collapse = excluded.collapse, settled = excluded.settled, alone = excluded.alone
                """), rested)
                .Column(NpgsqlDbType.Text, rested, static change => change.Milestone.App)
                .Column(NpgsqlDbType.Smallint, rested, static change => (short)change.Milestone.Class)
                .Column(NpgsqlDbType.Bigint, rested, static change => change.Milestone.NextAttemptAt!.Value.UtcTicks)
                .Column(NpgsqlDbType.Text, rested, static change => change.Milestone.CollapseKey)
                .Column(NpgsqlDbType.Boolean, rested, static change => change.IsSettled)
                .With((long?)gen)
                .Column(NpgsqlDbType.Boolean, rested, static change => change.Milestone.IsAlone);
        }

        if (ended.Count > 0)
        {
            Places(batch.Add($"DELETE FROM {table} m USING unnest($1, $2, $3) AS r(no, user_, device) WHERE m.no = r.no AND m.user_ = r.user_ AND m.device = r.device"), ended);
        }

        if (settled.Count > 0)
        {
            Places(batch.Add($"UPDATE {table} m SET settled = true FROM unnest($1, $2, $3) AS r(no, user_, device) WHERE m.no = r.no AND m.user_ = r.user_ AND m.device = r.device"), settled);
        }

        rested.ForEach(change => _table.Add(
            _hash.Of(change.Milestone.App, change.User, change.Device), (ulong)change.No, MailTable.SecondsOf(change.Milestone.NextAttemptAt!.Value),
            change.Milestone.CollapseKey is { } key ? KeyOf(new Collapse(change.Milestone.Class, key)) : 0));
        ended.ForEach(change => _table.Remove(_hash.Of(change.Milestone.App, change.User, change.Device), (ulong)change.No));
        _changes.AddRange(rested.Concat(ended).Select(change =>
            (_hash.Of(change.Milestone.App, change.User, change.Device), _hash.Of(change.Milestone.App, change.Milestone.Event), change.Milestone.Kind == MilestoneKind.Rested)));
    }

    private static NpgsqlBatchCommand Places(NpgsqlBatchCommand command, List<Change> changes) => command
        .Column(NpgsqlDbType.Bigint, changes, static change => change.No)
        .Column(NpgsqlDbType.Text, changes, static change => change.User)
        .Column(NpgsqlDbType.Text, changes, static change => change.Device);

    private readonly record struct Change(long No, string User, string Device, Milestone Milestone, bool IsSettled);
}
