using Pnh.Channels.Links;

namespace Pnh.Channels.Tests.Links;

/// <summary>What waits for a link's writer.</summary>
public sealed class LinkQueueTests
{
    [Fact]
    public async Task Take_ManyItems_KeepsTheirOrderInBoundedBatches()
    {
        var queue = new LinkQueue();
        for (var i = 0; i < 1_000; i++)
        {
            Add(queue, i, bytes: 1_000);
        }

        Assert.InRange(queue.Bytes, 1_000_000, 1_020_000);
        queue.Complete();
        var taken = new List<long>();
        while (await queue.TakeAsync(CancellationToken.None) is { IsEmpty: false } batch)
        {
            Assert.InRange(batch.Length, 1, LinkQueue.BatchBytes + 1_010);
            taken.AddRange(Numbers(batch));
        }

        Assert.Equal(Enumerable.Range(0, 1_000).Select(static i => (long)i), taken);
        Assert.Equal(0, queue.Bytes);
    }

    [Fact]
    public async Task HasRoom_PeerReadsNothing_IsFalseAtTheBound()
    {
        var queue = new LinkQueue();
        while (queue.HasRoom)
        {
            Add(queue, 1, bytes: 10_000);
        }

        Assert.InRange(queue.Bytes, LinkQueue.MostBytes, LinkQueue.MostBytes + 10_010);
        await queue.TakeAsync(CancellationToken.None);
        Assert.False(queue.HasRoom); // it is not written yet
        await queue.TakeAsync(CancellationToken.None);
        Assert.True(queue.HasRoom);
    }

    [Fact]
    public async Task Take_NothingThere_WaitsForTheNextItem()
    {
        var queue = new LinkQueue();
        var taking = queue.TakeAsync(CancellationToken.None).AsTask();
        Assert.False(taking.IsCompleted);
        Add(queue, 5, bytes: 1);
        Assert.Equal([5], Numbers(await taking));
    }

    [Fact]
    public async Task Add_AfterTheEnd_GoesNowhere()
    {
        var completed = new LinkQueue();
        Add(completed, 1, bytes: 1);
        completed.Complete();
        Add(completed, 2, bytes: 1);
        Assert.Equal([1], Numbers(await completed.TakeAsync(CancellationToken.None)));
        Assert.Equal(0, (await completed.TakeAsync(CancellationToken.None)).Length);

        var ended = new LinkQueue();
        Add(ended, 1, bytes: 1);
        ended.End();
        Add(ended, 2, bytes: 1);
        Assert.Equal(0, (await ended.TakeAsync(CancellationToken.None)).Length);
    }

    [Fact]
    public async Task Add_ByManyThreads_LosesNothingAndKeepsTheOrderOfEach()
    {
        var queue = new LinkQueue();
        var adding = Task.WhenAll(Enumerable.Range(0, 4).Select(thread => Task.Run(() =>
        {
            for (var i = 0; i < 5_000; i++)
            {
                Add(queue, (thread * 1_000_000) + i, bytes: 20);
            }
        })));
        var last = new long[4];
        var count = 0;
        while (count < 20_000)
        {
            foreach (var number in Numbers(await queue.TakeAsync(CancellationToken.None)))
            {
                Assert.Equal(last[number / 1_000_000]++, number % 1_000_000);
                count++;
            }
        }

        await adding;
    }

    private static void Add(LinkQueue queue, long number, int bytes)
    {
        using var item = queue.Begin(LinkItemKind.Acked);
        item.Members.Number(number).Bytes(new byte[bytes]);
    }

    private static List<long> Numbers(ReadOnlyMemory<byte> batch)
    {
        var numbers = new List<long>();
        while (LinkReader.TryTake(ref batch, out _, out var members))
        {
            numbers.Add(new LinkReader(members.Span).Number());
        }

        Assert.Equal(0, batch.Length);
        return numbers;
    }
}
