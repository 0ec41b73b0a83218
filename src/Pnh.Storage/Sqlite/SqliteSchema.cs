using System.Globalization;
using Pnh.Storage.Files;

namespace Pnh.Storage.Sqlite;

/// <summary>
/// The tables of one database file as a list of steps: step n brings version n to n + 1 (<c>user_version</c>). Steps are never edited, only added. An older hub refuses a file with a
/// step that it does not know, so what it can do without is an addition instead.
/// </summary>
internal sealed class SqliteSchema
{
    private readonly string[][] _steps;

    public SqliteSchema(params string[][] steps) => _steps = steps;

    /// <summary>Tables and indexes that older hubs need not know, each <c>CREATE … IF NOT EXISTS</c>: made beside the steps, without a version.</summary>
    public IReadOnlyList<string> Additions { get; init; } = [];

    /// <summary>How many steps behind the last one were released once and are additions now: a file that has them goes back to the last step's version.</summary>
    public int StepsTakenBack { get; init; }

    /// <summary>Brings the file to the newest version, each step in one transaction, and makes the additions; refuses a file from a newer hub.</summary>
    public void Apply(SqliteDatabase database)
    {
        var version = int.Parse(database.Scalar("PRAGMA user_version")!, CultureInfo.InvariantCulture);
        if (version > _steps.Length + StepsTakenBack)
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

        Add(database, version);
    }

    private void Add(SqliteDatabase database, int version)
    {
        database.Execute("BEGIN IMMEDIATE");
        foreach (var statement in Additions)
        {
            database.Execute(statement);
        }

        if (version > _steps.Length)
        {
            database.Execute(string.Create(CultureInfo.InvariantCulture, $"PRAGMA user_version={_steps.Length}"));
        }

        database.Execute("COMMIT");
    }
}
