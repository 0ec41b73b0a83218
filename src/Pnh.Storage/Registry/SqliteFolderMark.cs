using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>To which data folder a registry belongs.</summary>
/// <param name="Folder">The folder's id; 0 = the registry has none yet.</param>
/// <param name="IsEmpty">Nothing was ever registered in it, or all is gone.</param>
public readonly record struct FolderMark(int Folder, bool IsEmpty);

/// <summary>The folder's id as the only row of its table.</summary>
internal static class SqliteFolderMark
{
    private const string Select = """
        SELECT (SELECT id FROM folder),
        EXISTS(SELECT 1 FROM devices) OR EXISTS(SELECT 1 FROM settings) OR EXISTS(SELECT 1 FROM members) OR EXISTS(SELECT 1 FROM keys)
        """;

    public static FolderMark Get(SqliteDatabase database)
    {
        var row = database.Statement(Select);
        row.Read();
        var mark = new FolderMark(row.IsNull(0) ? 0 : row.Int32(0), row.Int32(1) == 0);
        row.Reset();
        return mark;
    }

    public static bool Put(SqliteDatabase database, int folder)
    {
        database.Statement("DELETE FROM folder").Execute();
        database.Statement("INSERT INTO folder(id) VALUES(?)").Bind(1, folder).Execute();
        return true;
    }
}
