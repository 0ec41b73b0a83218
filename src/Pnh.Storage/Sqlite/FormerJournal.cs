using Microsoft.Data.Sqlite;
using Pnh.Storage.Files;

namespace Pnh.Storage.Sqlite;

/// <summary>The <c>journal.db</c> of versions before the segments: not read any more, but what it promised is not dropped in silence.</summary>
internal static class FormerJournal
{
    /// <summary>Throws <see cref="DataFolderException"/> while the folder has one with events that are neither finished nor expired.</summary>
    public static void Refuse(string folder, DateTimeOffset now)
    {
        var path = Path.Combine(folder, "journal.db");
        if (!File.Exists(path))
        {
            return;
        }

        try
        {
            using var database = SqliteDatabase.OpenWriter(path);
            var row = database.Statement("SELECT count(*) FROM unfinished u JOIN events e ON e.seq = u.seq WHERE e.expires > ?").Bind(1, now);
            row.Read();
            var open = row.Int64(0);
            row.Reset();
            if (open > 0)
            {
                throw new DataFolderException(
                    $"{path} holds {open} unfinished events of an older version: let that version deliver them, or delete the file to give them up.");
            }
        }
        catch (SqliteException fault)
        {
            throw new DataFolderException(fault.Advice(path), fault);
        }
    }
}
