using Pnh.Core.Events;
using Pnh.Core.Users;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// Users whose last device was deleted, for as long as an event of theirs may be open: without that a restart could not tell them from users whose rows were lost. Kept is a hash of the user.
/// Writes are the writer's; <see cref="Has"/> is for any thread.
/// </summary>
/// <param name="hashes">What stands for a user.</param>
internal sealed class SqliteGoneUsers(UserHashes hashes)
{
    private const int Slice = 256;
    private const string FindDevice = "SELECT 1 FROM devices WHERE app = ? AND user = ? LIMIT 1";
    private const string Insert = "INSERT OR REPLACE INTO gone_users(hash, at) VALUES(?, ?)";
    private static readonly TimeSpan PruneEvery = TimeSpan.FromHours(1);

    private DateTimeOffset _prunedAt = DateTimeOffset.MinValue;

    // Rows of an older build name the user.
    private volatile bool _hasFormer;

    /// <summary>Before the first read: whether an older build left rows.</summary>
    public void Opened(SqliteDatabase database) => _hasFormer = database.Scalar("SELECT 1 FROM gone LIMIT 1") is not null;

    /// <summary>After a deletion: notes the user unless a device is left.</summary>
    public void Deleted(SqliteDatabase database, UserKey user, DateTimeOffset now)
    {
        if (!database.Statement(FindDevice).Bind(1, user.App).Bind(2, user.User).IsThere())
        {
            database.Statement(Insert).Bind(1, hashes.Of(user)).Bind(2, now).Execute();
        }
    }

    public void CameBack(SqliteDatabase database, UserKey user)
    {
        if (_hasFormer)
        {
            database.Statement("DELETE FROM gone WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User).Execute();
        }

        if (hashes.Find(user) is { } hash)
        {
            database.Statement("DELETE FROM gone_users WHERE hash = ?").Bind(1, hash).Execute();
        }
    }

    public bool Has(SqliteDatabase database, UserKey user) =>
        (hashes.Find(user) is { } hash && database.Statement("SELECT 1 FROM gone_users WHERE hash = ?").Bind(1, hash).IsThere())
        || (_hasFormer && database.Statement("SELECT 1 FROM gone WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User).IsThere());

    /// <summary>A slice of what an older build left, then what is over. True = there is more.</summary>
    public bool Tidy(SqliteDatabase database, DateTimeOffset now)
    {
        if (hashes.IsOfCopy)
        {
            return false;
        }

        if (_hasFormer)
        {
            return BringAlong(database);
        }

        if (now - _prunedAt < PruneEvery)
        {
            return false;
        }

        database.Statement("DELETE FROM gone_users WHERE hash IN (SELECT hash FROM gone_users WHERE at < ? LIMIT ?)").Bind(1, now - Limits.Ttl).Bind(2, Slice).Execute();
        if (database.Changes == Slice)
        {
            return true;
        }

        _prunedAt = now;
        return false;
    }

    private bool BringAlong(SqliteDatabase database)
    {
        var former = new List<(UserKey User, DateTimeOffset At)>(Slice);
        var rows = database.Statement("SELECT app, user, at FROM gone LIMIT ?").Bind(1, Slice);
        while (rows.Read())
        {
            former.Add((new UserKey(rows.Text(0), rows.Text(1)), rows.Time(2)));
        }

        rows.Reset();
        foreach (var (user, at) in former)
        {
            database.Statement(Insert).Bind(1, hashes.Of(user)).Bind(2, at).Execute();
            database.Statement("DELETE FROM gone WHERE app = ? AND user = ?").Bind(1, user.App).Bind(2, user.User).Execute();
        }

        return _hasFormer = former.Count == Slice;
    }
}
