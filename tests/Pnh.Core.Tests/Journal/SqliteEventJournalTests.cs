using System.Collections.Concurrent;
using System.Globalization;
using Pnh.Core.Devices;
using Pnh.Core.Journal;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

public sealed class SqliteEventJournalTests : EventJournalSpecification, IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly ConcurrentQueue<TimeSpan> _syncs = new();
    private SqliteEventJournal? _journal;

    private SqliteEventJournal Sqlite => _journal!;

    public void Dispose() => _folder.Dispose();

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_CompletedBeforeAKillUnderLoad_IsThereAfterwards()
    {
        var completed = new ConcurrentQueue<string>();
        using var stop = new CancellationTokenSource();
        var publishers = Enumerable.Range(0, 16).Select(publisher => Task.Run(async () =>
        {
            for (var n = 0; !stop.IsCancellationRequested; n++)
            {
                var id = string.Create(CultureInfo.InvariantCulture, $"{publisher}-{n}");
                await AppendAsync(Make(id, "{}"));
                completed.Enqueue(id);
            }
        })).ToArray();

        for (var round = 0; round < 5; round++)
        {
            var before = completed.Count;
            while (completed.Count < before + 50)
            {
                await Task.Delay(1);
            }

            var known = completed.ToArray();

            // What a killed process leaves at this moment: the log may end in the middle of a group, the shared-memory index is gone.
            using var copy = new TemporaryFolder();
            File.Copy(_folder["journal.db"], copy["journal.db"]);
            File.Copy(_folder["journal.db-wal"], copy["journal.db-wal"]);
            await using var survivor = SqliteEventJournal.Open(copy.FullPath, Time);
            var found = new HashSet<string>();
            await foreach (var unfinished in survivor.RecoverAsync(CancellationToken.None))
            {
                Assert.True(found.Add(unfinished.Id));
            }

            Assert.Empty(known.Except(found));
        }

        await stop.CancelAsync();
        await Task.WhenAll(publishers);
    }

    [Fact(Timeout = 60_000)]
    public async Task AppendAsync_NoSpace_IsNotAcceptedAndGoesOnAfterwards()
    {
        var first = Make("first", "{}");
        await AppendAsync(first);
        await Sqlite.Engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=1"));
        var big = "\"" + new string('x', 30_000) + "\"";

        await Assert.ThrowsAsync<StoreUnavailableException>(() => AppendAsync(Make("refused", big)));
        Journal.Settle(new SettledDelivery(first, "ada", new string('d', 5_000), "acked", null, Time.Now));
        await Task.Delay(200);
        await Sqlite.Engine.Writer.WriteAsync(database => database.Scalar("PRAGMA max_page_count=1000000"));
        Assert.Equal(AppendResult.Appended, await AppendAsync(Make("later", big)));
        await ReopenAsync();

        var found = await RecoverAsync();
        Assert.Equal(["first", "later"], found.Select(unfinished => unfinished.Id));
        Assert.Single(found[0].Settled);
        Assert.Equal(0, Sqlite.DroppedNotes);
    }

    [Fact(Timeout = 30_000)]
    public async Task Settle_NobodyAppends_IsWrittenSoon()
    {
        var accepted = Make("e1", "{}");
        await AppendAsync(accepted);

        Journal.Finish(accepted);

        for (var i = 0; i < 100 && (await RecoverAsync()).Count > 0; i++)
        {
            await Task.Delay(50);
        }

        Assert.Empty(await RecoverAsync());
    }

    [Fact(Timeout = 30_000)]
    public async Task OnSync_EveryCommit_IsTold()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));

        Assert.InRange(_syncs.Count, 2, 10);
        Assert.All(_syncs, sync => Assert.InRange(sync, TimeSpan.FromTicks(1), TimeSpan.FromSeconds(10)));
    }

    [Fact(Timeout = 60_000)]
    public async Task Retention_PastIt_RemovesRowsWhenIdle()
    {
        await Task.WhenAll(Enumerable.Range(0, 1_000).Select(n => AppendAsync(Make(n.ToString(CultureInfo.InvariantCulture), "{}"))));
        var kept = Make("kept", "{}", ttl: TimeSpan.FromDays(3));
        await AppendAsync(kept);
        Journal.Settle(new SettledDelivery(Make("1", "{}"), "ada", "phone", "acked", null, Time.Now));
        Time.Now += TimeSpan.FromHours(25);
        await AppendAsync(Make("young", "{}"));

        var left = "";
        for (var i = 0; i < 200 && left != "2 2 0"; i++)
        {
            await Task.Delay(50);
            left = await Sqlite.Engine.Writer.WriteAsync(database => database.Scalar(
                "SELECT (SELECT count(*) FROM events) || ' ' || (SELECT count(*) FROM unfinished) || ' ' || (SELECT count(*) FROM settled)")!);
        }

        Assert.Equal("2 2 0", left);
        Assert.Equal(["kept", "young"], (await RecoverAsync()).Select(unfinished => unfinished.Id));
    }

    protected override Task<IEventJournal> OpenAsync()
    {
        _journal = SqliteEventJournal.Open(_folder.FullPath, Time, new JournalOptions { OnSync = _syncs.Enqueue });
        return Task.FromResult<IEventJournal>(_journal);
    }

    protected override Task CloseAsync() => _journal!.DisposeAsync().AsTask();
}
