using System.Globalization;
using Microsoft.Data.Sqlite;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>
/// What builds of before left of deleted rows in pages of <c>registry.db</c>: they did not overwrite what they deleted, so the first start of this one writes the file anew, once. Not where
/// the disk has no room for that: then the next start tries again. A large file is left as it is, since SQLite writes the new one in memory first.
/// </summary>
internal static class SqliteErasedPages
{
    private const long MostBytes = 256L * 1024 * 1024;

    public static void Scrub(SqliteDatabase database, DateTimeOffset now)
    {
        if (database.Scalar("SELECT 1 FROM scrubbed") is not null || new FileInfo(database.FilePath).Length > MostBytes)
        {
            return;
        }

        try
        {
            if (database.Scalar("SELECT 1 FROM devices LIMIT 1") is not null || database.Scalar("PRAGMA freelist_count") != "0")
            {
                database.Execute("VACUUM");
            }

            database.Execute(string.Create(CultureInfo.InvariantCulture, $"INSERT INTO scrubbed VALUES({now.UtcTicks})"));
            _ = database.TryEmptyLog();
        }
        catch (SqliteException full) when (full.SqliteErrorCode == SQLitePCL.raw.SQLITE_FULL)
        {
            database.Rollback();
        }
    }
}
