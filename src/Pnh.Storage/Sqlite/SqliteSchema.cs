using System.Globalization;
using Pnh.Storage.Files;

namespace Pnh.Storage.Sqlite;

/// <summary>The tables of one database file as a list of steps: step n brings version n to n + 1 (<c>user_version</c>). Steps are never edited, only added.</summary>
internal sealed class SqliteSchema
{
    private readonly string[][] _steps;

    public SqliteSchema(params string[][] steps) => _steps = steps;

    /// <summary>Brings the file to the newest version, each step in one transaction; refuses a file from a newer hub.</summary>
    public void Apply(SqliteDatabase database)
    {
        var version = int.Parse(database.Scalar("PRAGMA user_version")!, CultureInfo.InvariantCulture);
        if (version > _steps.Length)
        {
            throw new DataFolderException(
                $"{Path.GetFileName(database.FilePath)} was written by a newer hub (schema {version}, this one knows {_steps.Length}): start that version, or restore a backup.");
        }

        for (; version < _steps.Length; version++)
        {
            database.Execute("BEGIN IMMEDIATE");
            foreach (var statement in _steps[version])
            {
                database.Execute(statement);
            }

            database.Execute(string.Create(CultureInfo.InvariantCulture, $"PRAGMA user_version={version + 1}"));
            database.Execute("COMMIT");
        }
    }
}
