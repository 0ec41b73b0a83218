using Pnh.Storage.Sqlite;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

/// <summary>Cleaning while the writer is busy: enough to keep up, never so much that writes wait for it.</summary>
public sealed class SqliteTidyTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 30_000)]
    public async Task Tidy_WriterIsBusy_GoesOnEachTurn()
    {
        var slices = 0;
        await using var engine = Open(_ => Interlocked.Increment(ref slices) < 500);
        var start = TimeProvider.System.GetTimestamp();

        while (Volatile.Read(ref slices) < 500 && TimeProvider.System.GetElapsedTime(start) < TimeSpan.FromSeconds(5))
        {
            await WriteAsync(engine);
        }

        Assert.InRange(slices, 500, 510);
    }

    [Fact(Timeout = 30_000)]
    public async Task Tidy_WithoutEnd_TakesNoMoreThanItsBudgetPerTurn()
    {
        var slices = 0;
        await using var engine = Open(_ =>
        {
            Interlocked.Increment(ref slices);
            SpinWait.SpinUntil(static () => false, 1);
            return true;
        });
        var start = TimeProvider.System.GetTimestamp();
        while (Volatile.Read(ref slices) == 0 && TimeProvider.System.GetElapsedTime(start) < TimeSpan.FromSeconds(5))
        {
            await WriteAsync(engine);
        }

        var before = Volatile.Read(ref slices);
        for (var i = 0; i < 50; i++)
        {
            await WriteAsync(engine);
        }

        Assert.InRange(slices - before, 49, 400);
    }

    private static Task<bool> WriteAsync(SqliteEngine engine) => engine.Writer.WriteAsync(database =>
    {
        database.Statement("INSERT INTO t(n) VALUES(1)").Execute();
        return true;
    });

    private SqliteEngine Open(Func<SqliteDatabase, bool> tidy) =>
        SqliteEngine.Open(_folder["test.db"], new SqliteSchema(["CREATE TABLE t(n INTEGER)"]), TimeProvider.System, null, tidy);
}
