using System.Collections.Concurrent;
using System.Runtime.Versioning;
using Microsoft.Data.Sqlite;
using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Sqlite;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

[UnsupportedOSPlatform("windows")]
public sealed class SqliteEngineTests : IDisposable
{
    private const string Insert = "INSERT INTO t(n) VALUES(?)";

    private static readonly SqliteSchema Schema = new(["CREATE TABLE t(n INTEGER UNIQUE NOT NULL)"]);

    private readonly TemporaryFolder _folder = new();

    private string File => _folder["test.db"];

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 30_000)]
    public async Task Open_Writer_SyncsEveryCommit()
    {
        await using var engine = Open();

        var pragmas = await engine.Writer.WriteAsync(database => string.Join(' ', new[] { "synchronous", "journal_mode", "foreign_keys", "wal_autocheckpoint" }
            .Select(name => database.Scalar("PRAGMA " + name))));

        Assert.Equal("2 wal 1 0", pragmas);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, System.IO.File.GetUnixFileMode(File));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, System.IO.File.GetUnixFileMode(File + "-wal"));
    }

    [Fact(Timeout = 30_000)]
    public async Task WriteAsync_ManyAtOnce_ShareCommits()
    {
        var commits = 0;
        await using var engine = SqliteEngine.Open(File, Schema, TimeProvider.System, _ => Interlocked.Increment(ref commits));

        await Task.WhenAll(Enumerable.Range(0, 2_000).Select(n => Add(engine, n)));

        Assert.Equal(2_000, await CountAsync(engine));
        Assert.InRange(commits, 1, 1_000);
    }

    [Fact(Timeout = 30_000)]
    public async Task WriteAsync_OneBreaksAConstraint_OnlyThatOneFails()
    {
        await using var engine = Open();
        using var blocked = new ManualResetEventSlim();
        var blocker = await BlockAsync(engine, blocked);

        // All of these are one group: two of them fail after they wrote a row that must go with them.
        var writes = Enumerable.Range(0, 20).Select(n => engine.Writer.WriteAsync(database =>
        {
            database.Statement(Insert).Bind(1, n).Execute();
            if (n == 5)
            {
                database.Statement(Insert).Bind(1, n).Execute();
            }

            return n == 7 ? throw new InvalidOperationException("a bug") : n;
        })).ToArray();
        blocked.Set();
        await blocker();

        await Assert.ThrowsAsync<SqliteException>(() => writes[5]);
        await Assert.ThrowsAsync<InvalidOperationException>(() => writes[7]);
        await Task.WhenAll(writes.Where((_, n) => n is not (5 or 7)));
        Assert.Equal(18, await CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task WriteAsync_NoSpace_FailsWithAdviceAndGoesOnWhenThereIsSpace()
    {
        await using var engine = Open();
        await Add(engine, 1);
        await engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=1"));

        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(async () =>
        {
            for (var n = 2; n < 5_000; n++)
            {
                await Add(engine, n);
            }
        });

        Assert.Contains("free space", refusal.Message, StringComparison.Ordinal);
        var before = await CountAsync(engine);
        await engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=100000"));
        await Add(engine, 1_000_000);
        Assert.Equal(before + 1, await CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task WriteAsync_MoreThanTheQueueHolds_IsRefusedNotHoarded()
    {
        await using var engine = Open();
        using var blocked = new ManualResetEventSlim();
        var blocker = await BlockAsync(engine, blocked);

        var writes = Enumerable.Range(0, 70_000).Select(n => Add(engine, n)).ToArray();
        blocked.Set();
        await blocker();

        // Waited for as one: the test runner starts a thread for every continuation of a test, 0.3 ms each, and 70,000 of them came near the limit above.
        await Task.WhenAll(writes).ContinueWith(static _ => { }, TaskScheduler.Default);
        var refused = writes.Where(write => !write.IsCompletedSuccessfully).ToList();
        Assert.All(refused, write => Assert.IsType<StoreUnavailableException>(Assert.Single(write.Exception!.InnerExceptions)));
        Assert.InRange(refused.Count, 1, 70_000 - 65_536);
        Assert.Equal(writes.Length - refused.Count, await CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task DisposeAsync_WorkQueued_WritesItFirst()
    {
        var engine = Open();
        var writes = Enumerable.Range(0, 500).Select(n => Add(engine, n)).ToArray();

        await engine.DisposeAsync();

        Assert.All(writes, write => Assert.True(write.IsCompletedSuccessfully));
        await using var again = Open();
        Assert.Equal(500, await CountAsync(again));
        await Assert.ThrowsAsync<StoreUnavailableException>(() => Add(engine, 501));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_WhileAWriteIsUnderWay_DoesNotWaitForIt()
    {
        await using var engine = Open();
        await Add(engine, 1);
        using var blocked = new ManualResetEventSlim();
        var blocker = engine.Writer.WriteAsync(database =>
        {
            database.Statement(Insert).Bind(1, 2).Execute();
            return blocked.Wait(TimeSpan.FromSeconds(20));
        });

        Assert.Equal(1, await CountAsync(engine));
        Assert.False(blocker.IsCompleted);
        blocked.Set();
        await blocker;
        Assert.Equal(2, await CountAsync(engine));
    }

    [Fact(Timeout = 60_000)]
    public async Task WriteAsync_MoreThanTheLogShouldHold_IsCheckpointed()
    {
        await using var engine = SqliteEngine.Open(File, new SqliteSchema(["CREATE TABLE t(n INTEGER, b BLOB)"]), TimeProvider.System);
        var body = new byte[64 * 1024];

        for (var n = 0; n < 1_200; n++)
        {
            await engine.Writer.WriteAsync(database =>
            {
                database.Statement("INSERT INTO t(n, b) VALUES(1, ?)").Bind(1, body).Execute();
                return true;
            });
        }

        // 75 MB went through it: the log was moved and used again from its start.
        Assert.InRange(new FileInfo(File + "-wal").Length, 1, 40 * 1024 * 1024);
        Assert.InRange(new FileInfo(File).Length, 50 * 1024 * 1024, 100 * 1024 * 1024);
    }

    [Fact(Timeout = 30_000)]
    public async Task Open_NewerSchema_IsRefused()
    {
        await SqliteEngine.Open(File, new SqliteSchema(["CREATE TABLE t(n)"], ["CREATE TABLE u(n)"]), TimeProvider.System).DisposeAsync();

        var refusal = Assert.Throws<DataFolderException>(() => Open());

        Assert.Contains("newer hub", refusal.Message, StringComparison.Ordinal);
    }

    [Fact(Timeout = 30_000)]
    public async Task Open_OlderSchema_IsBroughtUpToDateKeepingRows()
    {
        await using (var old = Open())
        {
            await Add(old, 41);
        }

        await using var engine = SqliteEngine.Open(
            File, new SqliteSchema(["not run again"], ["ALTER TABLE t ADD COLUMN m INTEGER NOT NULL DEFAULT 1"]), TimeProvider.System);

        Assert.Equal("42", await engine.Writer.WriteAsync(database => database.Scalar("SELECT n + m FROM t")));
    }

    [Fact]
    public void Open_NotADatabase_IsRefusedInOneLine()
    {
        System.IO.File.WriteAllText(File, new string('x', 5_000));

        var refusal = Assert.Throws<DataFolderException>(() => Open());

        Assert.Contains("not a PNH database", refusal.Message, StringComparison.Ordinal);
    }

    [Fact(Timeout = 30_000)]
    public async Task WriteAsync_DamagedFile_ClosesTheWriterForGood()
    {
        await FillAndDamageAsync();
        await using var engine = Open();
        Assert.False(engine.IsDamaged);

        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => Add(engine, 9_999));
        Assert.True(engine.IsDamaged);
        Assert.Contains("damaged", refusal.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => engine.Writer.WriteAsync(_ => true));
        await Assert.ThrowsAsync<StoreUnavailableException>(() => CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_DamagedFile_ClosesTheEngineForGood()
    {
        await FillAndDamageAsync();
        await using var engine = Open();

        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => CountAsync(engine));

        Assert.Contains("test.db is damaged", refusal.Message, StringComparison.Ordinal);
        Assert.True(engine.IsDamaged);
        await Assert.ThrowsAsync<StoreUnavailableException>(() => engine.Writer.WriteAsync(_ => true));
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_FileIsNoDatabaseAnyMore_ClosesTheEngineForGood()
    {
        await Open().DisposeAsync();
        await using var engine = Open();
        await using (var file = System.IO.File.OpenWrite(File))
        {
            file.Write(new byte[8_192]);
        }

        await Assert.ThrowsAsync<StoreUnavailableException>(() => CountAsync(engine));

        Assert.True(engine.IsDamaged);
    }

    [Fact(Timeout = 30_000)]
    public async Task ReadAsync_TableIsNotThere_IsAStoreFaultThatSaysWhatToDo()
    {
        await using var engine = SqliteEngine.Open(File, new SqliteSchema(["CREATE TABLE u(n)"]), TimeProvider.System);

        var refusal = await Assert.ThrowsAsync<StoreUnavailableException>(() => CountAsync(engine));

        Assert.Contains("restore test.db from a backup", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [Fact(Timeout = 30_000)]
    public async Task Time_ValueIsNone_CountsAsDamage()
    {
        await using var engine = Open();
        await Add(engine, -5);

        await Assert.ThrowsAsync<StoreUnavailableException>(() => engine.Readers.ReadAsync(
            0,
            static (database, _) =>
            {
                var rows = database.Statement("SELECT n FROM t");
                rows.Read();
                return rows.Time(0);
            },
            CancellationToken.None));

        Assert.True(engine.IsDamaged);
    }

    /// <summary>A full disk has no room for that file; here something else is in its way.</summary>
    [Fact(Timeout = 30_000)]
    public async Task Open_NoRoomForTheIndexOfTheLog_ReadsAndWritesAllTheSame()
    {
        await using (var first = Open())
        {
            await Add(first, 1);
        }

        System.IO.File.CreateSymbolicLink(File + "-shm", _folder["nowhere/at-all"]);
        await using var engine = Open();
        Assert.Equal(1, await CountAsync(engine));
        await Add(engine, 2);

        Assert.Equal(2, await CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task Refusal_NothingCanBeWritten_StandsAndGoesByItself()
    {
        await using var engine = Open();
        await Add(engine, 1);
        Assert.Null(engine.Writer.Refusal);

        // Another program that holds the database is as a disk without room: no write is taken, reads go on.
        using (var other = new SqliteConnection($"Data Source={File};Pooling=False"))
        {
            other.Open();
            using var hold = other.CreateCommand();
            hold.CommandText = "BEGIN IMMEDIATE";
            hold.ExecuteNonQuery();
            await Assert.ThrowsAsync<StoreUnavailableException>(() => Add(engine, 2));
            Assert.Contains("is locked by another program", engine.Writer.Refusal!.Message, StringComparison.Ordinal);
            Assert.False(engine.IsDamaged);
            Assert.Equal(1, await CountAsync(engine));
        }

        // Nobody asks meanwhile.
        for (var patience = 0; engine.Writer.Refusal is not null; patience++)
        {
            Assert.InRange(patience, 0, 200);
            await Task.Delay(50);
        }

        await Add(engine, 2);
        Assert.Equal(2, await CountAsync(engine));
    }

    [Fact(Timeout = 30_000)]
    public async Task Text_AnyCharacters_ComeBackAsTheyWent()
    {
        await using var engine = SqliteEngine.Open(File, new SqliteSchema(["CREATE TABLE t(s TEXT, b BLOB)"]), TimeProvider.System);
        string?[] texts = ["", null, "a\0b", "é", "e\u0301", "\U0001F469\u200D\U0001F680", "ß\u05D0", new string('ü', 3_000), "'; DROP TABLE t"];

        var read = new ConcurrentBag<string?>();
        foreach (var text in texts)
        {
            read.Add(await engine.Writer.WriteAsync(database =>
            {
                database.Statement("DELETE FROM t").Execute();
                database.Statement("INSERT INTO t VALUES(?, ?)").Bind(1, text).Bind(2, ReadOnlySpan<byte>.Empty).Execute();
                var rows = database.Statement("SELECT s, b FROM t WHERE s IS ?").Bind(1, text);
                Assert.True(rows.Read());
                Assert.False(rows.IsNull(1));
                var found = rows.TextOrNull(0);
                rows.Reset();
                return found;
            }));
        }

        Assert.Equal(texts.Order(StringComparer.Ordinal), read.Order(StringComparer.Ordinal));
    }

    /// <summary>Every page but the first.</summary>
    private async Task FillAndDamageAsync()
    {
        await using (var first = Open())
        {
            await first.Writer.WriteAsync(database =>
            {
                for (var n = 0; n < 5_000; n++)
                {
                    database.Statement(Insert).Bind(1, n).Execute();
                }

                return true;
            });
        }

        var bytes = await System.IO.File.ReadAllBytesAsync(File);
        Array.Fill(bytes, (byte)0xA5, 4_096, bytes.Length - 4_096);
        await System.IO.File.WriteAllBytesAsync(File, bytes);
    }

    /// <summary>Holds the writer inside a group until <paramref name="release"/> is set; what is queued meanwhile is the next group.</summary>
    private static async Task<Func<Task>> BlockAsync(SqliteEngine engine, ManualResetEventSlim release)
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var blocker = engine.Writer.WriteAsync(_ =>
        {
            started.TrySetResult();
            return release.Wait(TimeSpan.FromSeconds(20));
        });
        await started.Task;
        return () => blocker;
    }

    private static Task<bool> Add(SqliteEngine engine, long n) => engine.Writer.WriteAsync(database =>
    {
        database.Statement(Insert).Bind(1, n).Execute();
        return true;
    });

    private static Task<long> CountAsync(SqliteEngine engine) => engine.Readers.ReadAsync(0, static (database, _) =>
    {
        var rows = database.Statement("SELECT count(*) FROM t");
        rows.Read();
        var count = rows.Int64(0);
        rows.Reset();
        return count;
    }, CancellationToken.None);

    private SqliteEngine Open() => SqliteEngine.Open(File, Schema, TimeProvider.System);
}
