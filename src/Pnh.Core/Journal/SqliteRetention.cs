using Pnh.Core.Storage;

namespace Pnh.Core.Journal;

/// <summary>
/// Removes events whose id need not be recognised any more: past the retention and past their TTL, both counted from acceptance. Walks
/// the events in order of acceptance in small slices, so that no index on time has to be kept for every append. Runs on the writer's thread.
/// </summary>
internal sealed class SqliteRetention
{
    // 256 deletions hold the writer for about a millisecond.
    private const int SliceRows = 256;

    private const string Next = "SELECT seq, accepted, expires FROM events WHERE seq > ? ORDER BY seq LIMIT ?";
    private const string DeleteEvent = "DELETE FROM events WHERE seq = ?";
    private const string DeleteUnfinished = "DELETE FROM unfinished WHERE seq = ?";
    private const string DeleteSettled = "DELETE FROM settled WHERE seq = ?";

    // A walk passes over events with a longer TTL each time, so a new one starts at most once a minute.
    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(1);

    private readonly List<long> _over = [];
    private readonly TimeProvider _time;
    private readonly TimeSpan _retention;
    private long _after;
    private DateTimeOffset _resumeAt = DateTimeOffset.MinValue;

    public SqliteRetention(TimeProvider time, TimeSpan retention)
    {
        _time = time;
        _retention = retention;
    }

    public static bool IsOver(DateTimeOffset accepted, DateTimeOffset expires, TimeSpan retention, DateTimeOffset now) =>
        now >= accepted + retention && now >= expires;

    public static void Delete(SqliteDatabase database, long seq)
    {
        database.Statement(DeleteSettled).Bind(1, seq).Execute();
        database.Statement(DeleteUnfinished).Bind(1, seq).Execute();
        database.Statement(DeleteEvent).Bind(1, seq).Execute();
    }

    /// <summary>One slice; true when the walk goes on.</summary>
    public bool Sweep(SqliteDatabase database)
    {
        var now = _time.GetUtcNow();
        if (now < _resumeAt)
        {
            return false;
        }

        var more = FindOver(database, now);
        foreach (var seq in _over)
        {
            Delete(database, seq);
        }

        if (!more)
        {
            _after = 0;
            _resumeAt = now + Pause;
        }

        return more;
    }

    /// <summary>Fills the list from the next slice; false when it reached events that are too young, as all after them are.</summary>
    private bool FindOver(SqliteDatabase database, DateTimeOffset now)
    {
        _over.Clear();
        var seen = 0;
        var rows = database.Statement(Next).Bind(1, _after).Bind(2, SliceRows);
        while (rows.Read())
        {
            seen++;
            if (now < rows.Time(1) + _retention)
            {
                rows.Reset();
                return false;
            }

            _after = rows.Int64(0);
            if (IsOver(rows.Time(1), rows.Time(2), _retention, now))
            {
                _over.Add(_after);
            }
        }

        return seen == SliceRows;
    }
}
