using System.Globalization;
using Microsoft.Data.Sqlite;
using Pnh.Storage.Files;
using Pnh.Storage.Sqlite;

namespace Pnh.Storage.Registry;

/// <summary>A copy of <c>registry.db</c> as it is at one moment, also while a hub writes it (SQLite's VACUUM INTO).</summary>
internal static class SqliteRegistryCopy
{
    /// <summary>How many devices there are in it. Faults are <see cref="IOException"/>.</summary>
    /// <param name="from">The file.</param>
    /// <param name="to">One that does not exist.</param>
    public static long Write(string from, string to)
    {
        try
        {
            // SQLite takes an empty file, and would make one that others may read.
            using (new FileStream(to, DataFolder.PrivateFile(FileMode.CreateNew)))
            {
            }

            using var database = SqliteDatabase.OpenReader(from, vfs: null);
            database.Execute($"VACUUM INTO '{to.Replace("'", "''", StringComparison.Ordinal)}'");
            using var copy = SqliteDatabase.OpenReader(to, vfs: null);
            return long.Parse(copy.Scalar("SELECT count(*) FROM devices")!, CultureInfo.InvariantCulture);
        }
        catch (SqliteException fault)
        {
            throw new IOException(fault.Message, fault);
        }
    }
}
