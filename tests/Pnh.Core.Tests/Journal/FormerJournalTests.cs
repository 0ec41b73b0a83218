using Pnh.Storage.Files;
using Pnh.Storage.Sqlite;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

public sealed class FormerJournalTests
{
    [Theory]
    [InlineData(1, true)]
    [InlineData(-1, false)]
    public void Refuse_UnfinishedEventsOfAnOlderVersion_OnlyWhileTheyLive(int hoursLeft, bool isRefused)
    {
        using var folder = new TemporaryFolder();
        var now = new DateTimeOffset(2026, 5, 1, 12, 0, 0, TimeSpan.Zero);
        using (var database = SqliteDatabase.OpenWriter(folder["journal.db"]))
        {
            database.Statement("CREATE TABLE events(seq INTEGER PRIMARY KEY, expires INTEGER NOT NULL)").Execute();
            database.Statement("CREATE TABLE unfinished(seq INTEGER PRIMARY KEY)").Execute();
            database.Statement("INSERT INTO events VALUES(1, ?)").Bind(1, now.AddHours(hoursLeft)).Execute();
            database.Statement("INSERT INTO unfinished VALUES(1)").Execute();
        }

        var fault = Record.Exception(() => FormerJournal.Refuse(folder.FullPath, now));

        Assert.Equal(isRefused, fault is DataFolderException);
        Assert.Equal(isRefused, fault is not null);
    }
}
