using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Events;

namespace Pnh.Channels.Tests.Links;

/// <summary>What waits for a link's writer.</summary>
public sealed class LinkQueueTests
{
    [Fact]
    public async Task Take_ManyItems_KeepsTheirOrderInBoundedBatches()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        for (var i = 0; i < 1_000; i++)
        {
            Add(queue, i, bytes: 1_000);
        }

        Assert.InRange(queue.Bytes, 1_000_000, 1_020_000);
        queue.Complete();
        var taken = new List<long>();
        while (await queue.TakeAsync() is { IsEmpty: false } batch)
        {
            Assert.InRange(batch.Length, 1, LinkQueue.BatchBytes + 1_010);
            taken.AddRange(Numbers(batch));
        }

        Assert.Equal(Enumerable.Range(0, 1_000).Select(static i => (long)i), taken);
        Assert.Equal(0, queue.Bytes);
    }

    [Fact]
    public async Task TryAdd_PeerReadsNothing_IsFalseAtTheBound()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        while (queue.TryAdd(1, Events.Make("e"), TimeProvider.System))
        {
            Add(queue, 1, bytes: 10_000);
        }

        Assert.InRange(queue.Bytes, LinkQueue.MostBytes, LinkQueue.MostBytes + 10_010);
        await queue.TakeAsync();
        Assert.False(queue.TryAdd(1, Events.Make("e"), TimeProvider.System)); // it is not written yet
        await queue.TakeAsync();
        Assert.True(queue.TryAdd(1, Events.Make("e"), TimeProvider.System));
    }

    [Fact]
    public async Task TryAdd_PeerReadsNothing_CountsTransientOnesAndSaysWhenThereIsRoom()
    {
        var rooms = 0;
        var queue = new LinkQueue { HasRoom = () => rooms++ };
        while (queue.Bytes < LinkQueue.MostBytes)
        {
            Add(queue, 1, bytes: 10_000);
        }

        Assert.False(queue.TryAdd(1, Events.Make("e"), TimeProvider.System));
        queue.AskForRoom();
        Assert.Equal(0, queue.Dropped);
        Assert.False(queue.TryAdd(1, Events.Make("t", EventClass.Transient), TimeProvider.System));
        Assert.False(queue.TryAdd(2, Events.Make("t", EventClass.Transient), TimeProvider.System));
        Assert.Equal(2, queue.Dropped);
        while (queue.Bytes > LinkQueue.MostBytes / 2)
        {
            Assert.Equal(0, rooms);
            await queue.TakeAsync();
        }

        Assert.Equal(1, rooms);
        await queue.TakeAsync();
        Assert.Equal(1, rooms);
        queue.AskForRoom(); // it came between the refusal and the question
        Assert.Equal(2, rooms);
    }

    [Fact]
    public async Task TryAdd_SameEventForManySessions_CarriesItsBodyOnce()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var (big, other) = (Events.Make("big", data: $"\"{new string('x', 10_000)}\""), Events.Make("other"));
        for (var handle = 1; handle <= 2_000; handle++)
        {
            Assert.True(queue.TryAdd(handle, big, TimeProvider.System));
        }

        queue.TryAdd(7, other, TimeProvider.System);
        queue.TryAdd(8, big, TimeProvider.System);
        Assert.InRange(queue.Bytes, 20_000, 26_000);
        queue.Complete();
        var sends = await ReadSendsAsync(queue);
        Assert.Equal([("big", 2_000), ("other", 1), ("big", 1)], sends.Select(static send => (send.Id, send.Handles.Count)));
        Assert.Equal(Enumerable.Range(1, 2_000).Select(static i => (long)i), sends[0].Handles);
        Assert.Equal(0, queue.Bytes);
    }

    [Fact]
    public async Task TryAdd_ManySessionsAtOnce_IsTheSameItem()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var accepted = Events.Make("e");
        Assert.True(queue.TryAdd([1, 2, 300], accepted, TimeProvider.System));
        Assert.True(queue.TryAdd(4, accepted, TimeProvider.System));
        queue.Complete();
        var send = Assert.Single(await ReadSendsAsync(queue));
        Assert.Equal([1, 2, 300, 4], send.Handles);
    }

    [Fact]
    public async Task TryAdd_ManySessionsAndMore_LeaveTogetherWithTheFlush()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var accepted = Events.Make("e", EventClass.Transient);
        var taking = queue.TakeAsync().AsTask();
        Assert.True(queue.TryAdd([1, 2], accepted, TimeProvider.System));
        Assert.True(queue.TryAdd([3], accepted, TimeProvider.System));
        Assert.False(taking.IsCompleted);
        await Task.Yield();
        Assert.False(taking.IsCompleted);
        queue.Flush(byCaller: false);
        var send = Assert.Single(ReadSends(await taking));
        Assert.Equal([1, 2, 3], send.Handles);
    }

    [Fact]
    public async Task Flush_ByCaller_TheWriterSendsOneBatchInThatThreadAndTheNextInAnother()
    {
        // The pool may have the next batch before the writer has asked for it to its end: then it comes in the caller's thread, and that is no harm. Not each time.
        for (var i = 0; i < 20; i++)
        {
            if (await SendsTheNextInAnotherAsync())
            {
                return;
            }
        }

        Assert.Fail("The next batch came in the caller's thread 20 times.");
    }

    private static async Task<bool> SendsTheNextInAnotherAsync()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var threads = new List<Thread>();
        var writing = WriteAsync();
        Assert.Empty(threads);
        var flusher = new Thread(() =>
        {
            Assert.True(queue.TryAdd([1], Events.Make("e", EventClass.Transient), TimeProvider.System));
            queue.Flush(byCaller: true);
        });
        flusher.Start();
        flusher.Join();
        Assert.Same(flusher, threads[0]);
        await writing.WaitAsync(TimeSpan.FromSeconds(30));
        return threads[1] != flusher;

        async Task WriteAsync()
        {
            await queue.TakeAsync().ConfigureAwait(false);
            threads.Add(Thread.CurrentThread);
            Add(queue, 2, bytes: 10);
            await queue.TakeAsync().ConfigureAwait(false);
            threads.Add(Thread.CurrentThread);
        }
    }

    [Fact]
    public async Task Flush_ByCallerAndNothingElseComes_TheWriterWaitsAgain()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var taken = 0;
        var writing = WriteAsync();
        await Task.Run(() =>
        {
            for (var i = 1; i <= 3; i++)
            {
                Assert.True(queue.TryAdd([i], Events.Make($"e{i}", EventClass.Transient), TimeProvider.System));
                queue.Flush(byCaller: true);
                Assert.Equal(i, taken);
            }
        });
        queue.Complete();
        await writing.WaitAsync(TimeSpan.FromSeconds(30));
        return;

        async Task WriteAsync()
        {
            while (await queue.TakeAsync().ConfigureAwait(false) is { IsEmpty: false })
            {
                taken++;
            }
        }
    }

    [Fact]
    public async Task Take_HelloAndThenACall_HelloComesFirst()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        LinkScene.Edge("tee").Write(queue);
        Assert.True(queue.TryAdd(0, Events.Make("c", EventClass.Call), TimeProvider.System));
        var batch = await queue.TakeAsync();
        Assert.True(LinkReader.TryTake(ref batch, out var first, out _));
        Assert.True(LinkReader.TryTake(ref batch, out var second, out _));
        Assert.Equal((LinkItemKind.Hello, LinkItemKind.Frame), (first, second));
    }

    /// <summary>Edges of this version get the frame, edges of before a body that they know, tees the event as it was posted.</summary>
    [Theory]
    [InlineData(LinkHello.CarriesFrames)]
    [InlineData(LinkHello.CarriesFrames - 1)]
    [InlineData(LinkHello.OldestVersion)]
    [InlineData(LinkHello.Tee)]
    public async Task TryAdd_LinkOfAVersion_CarriesItsForm(int version)
    {
        var queue = new LinkQueue { Version = version };
        var accepted = Events.Make("e-1");
        Assert.True(queue.TryAdd(7, accepted, TimeProvider.System));
        var batch = await queue.TakeAsync();
        Assert.True(LinkReader.TryTake(ref batch, out var kind, out var members));
        Assert.Equal(version == LinkHello.CarriesFrames ? LinkItemKind.Frame : LinkItemKind.Send, kind);
        if (kind == LinkItemKind.Frame)
        {
            Assert.Equal("e-1", new LinkReader(members.Span).Frame(TimeProvider.System).Id);
        }
        else
        {
            var copy = TeeCopy.Read(members);
            Assert.Equal("e-1", copy.Id);
            Assert.Equal(version == LinkHello.Tee ? accepted.Body.ToArray() : EdgeBody.Of(accepted), copy.Body.ToArray());
        }
    }

    [Fact]
    public async Task TryAdd_BatchIsFull_LeavesWithoutAFlush()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var accepted = Events.Make("e", EventClass.Transient);
        var taking = queue.TakeAsync().AsTask();
        var handles = new long[1_000];
        Array.Fill(handles, int.MaxValue);
        while (queue.Bytes < LinkQueue.BatchBytes)
        {
            Assert.True(queue.TryAdd(handles, accepted, TimeProvider.System));
        }

        Assert.InRange((await taking.WaitAsync(TimeSpan.FromSeconds(30))).Length, LinkQueue.BatchBytes, LinkQueue.BatchBytes + 6_000);
    }

    [Fact]
    public async Task TryAdd_ManySessionsAtTheBound_AreAllCounted()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        while (queue.Bytes < LinkQueue.MostBytes)
        {
            Add(queue, 1, bytes: 10_000);
        }

        Assert.False(queue.TryAdd([1, 2, 3], Events.Make("t", EventClass.Transient), TimeProvider.System));
        Assert.Equal(3, queue.Dropped);
        queue.Complete();
        Assert.Empty(await ReadSendsAsync(queue));
    }

    [Fact]
    public async Task TryAdd_BatchOfItsEventTaken_CarriesTheBodyAgain()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var accepted = Events.Make("e");
        queue.TryAdd(1, accepted, TimeProvider.System);
        ReadOnlyMemory<byte> first = (await queue.TakeAsync()).ToArray();
        queue.TryAdd(2, accepted, TimeProvider.System);
        ReadOnlyMemory<byte> second = (await queue.TakeAsync()).ToArray();
        Assert.InRange(second.Length, first.Length - 3, first.Length + 3); // its age takes more bytes or fewer
    }

    [Fact]
    public async Task TryAdd_AnotherItemBetween_KeepsItsPlace()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var accepted = Events.Make("e");
        queue.TryAdd(1, accepted, TimeProvider.System);
        Add(queue, 1, bytes: 1);
        queue.TryAdd(2, accepted, TimeProvider.System);
        queue.Complete();
        Assert.Equal(2, (await ReadSendsAsync(queue)).Count);
    }

    [Fact]
    public async Task Take_CallsBehindMuchElse_ComeFirst()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        for (var i = 0; i < 500; i++)
        {
            queue.TryAdd(1, Events.Make($"m-{i}", data: $"\"{new string('x', 1_000)}\""), TimeProvider.System);
            if (i % 100 == 0)
            {
                queue.TryAdd(1, Events.Make($"c-{i}", EventClass.Call), TimeProvider.System);
            }
        }

        queue.Complete();
        var ids = (await ReadSendsAsync(queue)).Select(static send => send.Id).ToList();
        Assert.Equal(["c-0", "c-100", "c-200", "c-300", "c-400"], ids[..5]);
        Assert.Equal(Enumerable.Range(0, 500).Select(static i => $"m-{i}"), ids[5..]);
    }

    [Fact]
    public async Task Take_NothingThere_WaitsForTheNextItem()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
        var taking = queue.TakeAsync().AsTask();
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
        Assert.Equal([1], Numbers(await completed.TakeAsync()));
        Assert.Equal(0, (await completed.TakeAsync()).Length);

        var ended = new LinkQueue();
        Add(ended, 1, bytes: 1);
        ended.End();
        Add(ended, 2, bytes: 1);
        Assert.Equal(0, (await ended.TakeAsync()).Length);
    }

    [Fact]
    public async Task Add_ByManyThreads_LosesNothingAndKeepsTheOrderOfEach()
    {
        var queue = new LinkQueue { Version = LinkHello.Version };
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
            foreach (var number in Numbers(await queue.TakeAsync()))
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

    private static async Task<List<(string Id, List<long> Handles)>> ReadSendsAsync(LinkQueue queue)
    {
        var sends = new List<(string, List<long>)>();
        while (await queue.TakeAsync() is { IsEmpty: false } batch)
        {
            sends.AddRange(ReadSends(batch));
        }

        return sends;
    }

    private static IEnumerable<(string Id, List<long> Handles)> ReadSends(ReadOnlyMemory<byte> batch)
    {
        while (LinkReader.TryTake(ref batch, out var kind, out var members))
        {
            if (kind == LinkItemKind.Frame)
            {
                yield return ReadSend(members);
            }
        }
    }

    private static (string Id, List<long> Handles) ReadSend(ReadOnlyMemory<byte> members)
    {
        var reader = new LinkReader(members.Span);
        var accepted = reader.Frame(TimeProvider.System);
        var handles = new List<long>();
        while (reader.Left > 0)
        {
            handles.Add(reader.Number());
        }

        return (accepted.Id, handles);
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
