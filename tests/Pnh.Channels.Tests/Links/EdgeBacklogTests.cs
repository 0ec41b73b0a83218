using System.Collections.Concurrent;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>What of a hub's words an edge does at once, and what waits.</summary>
public sealed class EdgeBacklogTests : IDisposable
{
    private static readonly Event Message = Events.Make("e-1");
    private readonly ManualResetEventSlim _gate = new();
    private readonly ConcurrentQueue<string> _done = new();
    private readonly EdgeBacklog _backlog;

    public EdgeBacklogTests() => _backlog = new EdgeBacklog(new Turns(TimeProvider.System), (handles, _) =>
    {
        Assert.True(_gate.Wait(SocketHost.Patience));
        _done.Enqueue($"{handles.Length} from {handles[0]}");
    });

    public void Dispose() => _gate.Dispose();

    [Fact]
    public void Give_FewSessionsAndNothingWaits_IsDoneAtOnce()
    {
        _gate.Set();
        _backlog.Give(Handles(EdgeBacklog.Step), Message, 1);
        _backlog.Do(() => _done.Enqueue("other"), 0);
        Assert.Equal([$"{EdgeBacklog.Step} from 0", "other"], _done);
    }

    [Fact]
    public async Task Give_ManySessions_StepsAndWhatCameLaterInItsOrder()
    {
        _backlog.Give(Handles(70), Message, 1);
        _backlog.Do(() => _done.Enqueue("other"), 0);
        _backlog.Give([100], Message, 1);
        Assert.Empty(_done);

        _gate.Set();
        Assert.Null(await _backlog.SettleAsync().WaitAsync(SocketHost.Patience));
        Assert.Equal(["32 from 0", "32 from 32", "6 from 64", "other", "1 from 100"], _done);
    }

    [Fact]
    public async Task UntilRoomAsync_TooMuchWaits_CompletesWhenItIsDone()
    {
        for (var steps = 0; steps < EdgeBacklog.MostSteps; steps++)
        {
            Assert.True(_backlog.UntilRoomAsync().IsCompleted);
            _backlog.Give(Handles(steps == 0 ? EdgeBacklog.Step + 1 : 1), Message, 1);
        }

        var room = _backlog.UntilRoomAsync();
        Assert.False(room.IsCompleted);
        _gate.Set();
        await room.WaitAsync(SocketHost.Patience);
        Assert.Equal(EdgeBacklog.MostSteps + 1, _done.Count);
    }

    [Fact]
    public async Task UntilRoomAsync_TooManyBytesWait_CompletesWhenAllOfItIsDone()
    {
        _backlog.Give(Handles(EdgeBacklog.Step + 1), Message, Message.Body.Length);
        _backlog.Do(static () => { }, LinkQueue.MostBytes - Message.Body.Length);
        Assert.True(_backlog.UntilRoomAsync().IsCompleted);
        _backlog.Do(static () => { }, 1);

        var room = _backlog.UntilRoomAsync();
        Assert.False(room.IsCompleted);
        _gate.Set();
        await room.WaitAsync(SocketHost.Patience);
        await _backlog.SettleAsync();
        Assert.True(_backlog.UntilRoomAsync().IsCompleted);
    }

    [Fact]
    public async Task Do_StepThrows_NothingOvertakesItAndTheEndSaysIt()
    {
        _backlog.Give(Handles(EdgeBacklog.Step + 1), Message, 1);
        _backlog.Do(static () => throw new InvalidDataException("bug"), 0);
        _gate.Set();
        await Waiting.UntilAsync(() => _backlog.UntilRoomAsync().IsFaulted);
        _backlog.Do(() => _done.Enqueue("behind"), 0);

        Assert.Equal("bug", (await _backlog.SettleAsync().WaitAsync(SocketHost.Patience))!.Message);
        Assert.DoesNotContain("behind", _done);

        // The next connection begins with nothing.
        _backlog.Do(() => _done.Enqueue("next"), 0);
        Assert.Contains("next", _done);
    }

    [Fact]
    public async Task Receive_CallBehindAnEventForMany_GoesToItsSessionAtOnceAndItsWithdrawalInItsOrder()
    {
        var link = new EdgeLink(new Turns(TimeProvider.System), TimeProvider.System);
        var way = new StuckWay(_gate, _done);
        var handles = Handles(EdgeBacklog.Step + 1);
        foreach (var handle in handles)
        {
            link.Add(new(new("demo", "ada", "tab", $"s-{handle}"), SessionState.Active, way, DateTimeOffset.UnixEpoch), handle);
        }

        var output = new LinkQueue { Version = LinkHello.Version };
        Assert.True(output.TryAdd(handles, Events.Make("many"), TimeProvider.System));
        await ReceiveAsync(link, output);
        Assert.True(output.TryAdd(1, Events.Make("call", EventClass.Call), TimeProvider.System));
        using (var item = output.Begin(LinkItemKind.Withdraw))
        {
            item.Members.Number(1).Withdrawal(Events.Withdraw("call", "ended"));
        }

        await ReceiveAsync(link, output);
        await ReceiveAsync(link, output);
        Assert.Equal(["call"], _done);

        _gate.Set();
        Assert.Null(await link.SettleAsync().WaitAsync(SocketHost.Patience));
        Assert.Equal(["call", .. Enumerable.Repeat("many", handles.Length), "withdraw call"], _done);
    }

    private static long[] Handles(int count) => [.. Enumerable.Range(0, count).Select(static handle => (long)handle)];

    private static async Task ReceiveAsync(EdgeLink link, LinkQueue output)
    {
        var batch = await output.TakeAsync();
        while (LinkReader.TryTake(ref batch, out var kind, out var members))
        {
            link.Receive(kind, members);
        }
    }

    /// <summary>Takes nothing but calls before the gate opens.</summary>
    private sealed class StuckWay(ManualResetEventSlim gate, ConcurrentQueue<string> done) : ISessionLink
    {
        public bool TrySend(string session, Event accepted)
        {
            Assert.True(accepted.Class == EventClass.Call || gate.Wait(SocketHost.Patience));
            done.Enqueue(accepted.Id);
            return true;
        }

        public bool TryReplay(string session, Event accepted) => throw new NotSupportedException();

        public bool TryWithdraw(string session, Withdrawal withdrawal)
        {
            done.Enqueue($"withdraw {withdrawal.Event}");
            return true;
        }

        public void Close(string session, SessionClose reason) => throw new NotSupportedException();
    }
}
