using System.Collections.Concurrent;
using System.Globalization;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Journal;

public sealed class SegmentJournalTests : EventJournalSpecification, IDisposable
{
    private readonly TemporaryFolder _folder = new();
    private readonly ConcurrentQueue<TimeSpan> _syncs = new();
    private SegmentJournal _journal = null!;

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

            // What a killed process leaves at this moment: the file may end in the middle of a group. Its manifest goes first: it speaks of what is there by then.
            using var copy = new TemporaryFolder();
            Directory.CreateDirectory(copy["journal"]);
            foreach (var file in Directory.GetFiles(_folder["journal"]).Order())
            {
                File.Copy(file, Path.Combine(copy["journal"], Path.GetFileName(file)));
            }

            await using var survivor = SegmentJournal.Open(copy.FullPath, Time);
            var found = new HashSet<string>();
            await foreach (var unfinished in survivor.RecoverAsync(CancellationToken.None))
            {
                Assert.True(found.Add(unfinished.Event.Id));
            }

            Assert.Empty(known.Except(found));
        }

        await stop.CancelAsync();
        await Task.WhenAll(publishers);
    }

    [Fact(Timeout = 30_000)]
    public async Task OnSync_EveryCommit_IsTold()
    {
        await AppendAsync(Make("e1", "{}"));
        await AppendAsync(Make("e2", "{}"));

        Assert.InRange(_syncs.Count, 2, 10);
        Assert.All(_syncs, sync => Assert.InRange(sync, TimeSpan.FromTicks(1), TimeSpan.FromSeconds(10)));
    }

    [Fact(Timeout = 30_000)]
    public async Task Note_NobodyAppends_IsWrittenSoon()
    {
        await AppendAsync(Make("e1", "{}"));
        Journal.Note(At("e1", MilestoneKind.Settled, "ada", "phone") with { State = "acked" });

        for (var i = 0; i < 200 && (await Journal.ReadFeedAsync(App, null, 1, default)).Entries.Count == 0; i++)
        {
            await Task.Delay(50);
        }

        Assert.Single((await Journal.ReadFeedAsync(App, null, 1, default)).Entries);
    }

    protected override Task<IEventJournal> OpenAsync()
    {
        _journal = SegmentJournal.Open(_folder.FullPath, Time, new JournalOptions { OnSync = _syncs.Enqueue, SegmentBytes = 1024 * 1024 });
        return Task.FromResult<IEventJournal>(_journal);
    }

    protected override Task CloseAsync() => _journal.DisposeAsync().AsTask();
}
