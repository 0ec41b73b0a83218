using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The logical stream, without any connection; by a hub in the process.</summary>
public sealed class DirectSessionTests() : SessionTests(overBytes: false)
{
    /// <summary>An edge that says its session again just then says the event as held, or the hub would send it again.</summary>
    [Fact]
    public async Task Describe_WhileTheHubIsToldOfAnAck_StillHasTheEvent()
    {
        await using var scene = await SessionScene.OpenAsync(overBytes: false);
        await scene.SendAsync("a");
        await scene.SendAsync("b");
        scene.Drain();
        var held = new List<string>();
        scene.Hub.OnAcked = _ => held.Add(string.Join(' ', ((ISessionLink)scene.Session).Describe().Holds.Order()));

        scene.Session.Acknowledge(2);

        Assert.Equal(["a b", "b"], held);
        Assert.Empty(((ISessionLink)scene.Session).Describe().Holds);
    }
}

/// <summary>The same by a hub that is reached by bytes only.</summary>
public sealed class ByteLinkSessionTests() : SessionTests(overBytes: true);

/// <summary>What a session does with frames, however the hub reaches it.</summary>
public abstract class SessionTests
{
    private readonly bool _overBytes;

    protected SessionTests(bool overBytes) => _overBytes = overBytes;

    [Fact]
    public async Task TryTake_CallQueuedLast_LeavesFirstAndGetsTheFirstSeq()
    {
        await using var scene = await OpenAsync();
        await scene.SendAsync("m-1");
        await scene.SendAsync("m-2");
        await scene.SendAsync("ring", EventClass.Call);

        Assert.Equal([(1, "ring"), (2, "m-1"), (3, "m-2")], scene.Drain());
    }

    [Fact]
    public async Task Acknowledge_Cumulative_ConfirmsEachEventOnceInOrder()
    {
        await using var scene = await OpenAsync();
        await scene.SendAsync("a");
        await scene.SendAsync("b");
        await scene.SendAsync("c");
        scene.Drain();

        Assert.Equal(2, scene.Session.Acknowledge(2));
        Assert.Equal(0, scene.Session.Acknowledge(1));
        Assert.Equal(1, scene.Session.Acknowledge(3));
        Assert.Equal(["a", "b", "c"], [await scene.Hub.NextAckedAsync(), await scene.Hub.NextAckedAsync(), await scene.Hub.NextAckedAsync()]);
        Assert.Equal(0, scene.Session.Snapshot().Unacked);
    }

    [Fact]
    public async Task Acknowledge_SeqNeverGiven_IsRefusedAndConfirmsNothing()
    {
        await using var scene = await OpenAsync();
        await scene.SendAsync("written");
        scene.Drain();
        await scene.SendAsync("waiting");

        Assert.Null(scene.Session.Acknowledge(2));
        Assert.Equal(1, scene.Session.Snapshot().Unacked);
    }

    [Fact]
    public async Task TrySend_NeverAcked_IsRefusedAtTheBoundUntilAcksMakeRoom()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 4);
        for (var i = 0; i < 4; i++)
        {
            Assert.True(await scene.SendAsync($"m-{i}"));
            scene.Drain();
        }

        Assert.False(await scene.SendAsync("one-more"));
        Assert.Null(scene.Transport.Closed);
        scene.Session.Acknowledge(1);
        Assert.True(await scene.SendAsync("one-more"));
    }

    [Fact]
    public async Task TrySend_AckedInTime_NeverEnds()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 4);
        for (var i = 1; i <= 100; i++)
        {
            Assert.True(await scene.SendAsync($"m-{i}"));
            scene.Drain();
            scene.Session.Acknowledge(i);
        }

        Assert.Null(scene.Transport.Closed);
    }

    [Fact]
    public async Task TrySend_BytesOverTheBound_IsRefused_ButOneLargeFrameFits()
    {
        await using var scene = await OpenAsync(o => o.QueueBytes = 4096);
        Assert.True(await scene.SendAsync(Events.Make("large", data: $"\"{new string('x', 8000)}\"")));
        Assert.False(await scene.SendAsync("small"));
        Assert.Null(scene.Transport.Closed);
    }

    [Fact]
    public async Task TrySend_OverHalf_KeepsTheNewestOfEachCollapseKeyInOrder()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 8);
        foreach (var (id, key) in new[] { ("a-1", "a"), ("b-1", "b"), ("a-2", "a"), ("x", null), ("b-2", "b") })
        {
            Assert.True(await scene.SendAsync(Events.Make(id, collapseKey: key)));
        }

        Assert.True(await scene.SendAsync(Events.Make("a-3", collapseKey: "a")));
        Assert.Equal([(1, "x"), (2, "b-2"), (3, "a-3")], scene.Drain());
    }

    [Fact]
    public async Task TrySend_OverHalf_KeepsEachClassOfACollapseKey()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 6);
        foreach (var (id, @class) in new[]
        {
            ("bulk", EventClass.Bulk), ("call", EventClass.Call), ("message", EventClass.Message), ("typing", EventClass.Transient), ("x", EventClass.Bulk),
        })
        {
            Assert.True(await scene.SendAsync(Events.Make(id, @class, collapseKey: id == "x" ? null : "a")));
        }

        Assert.True(await scene.SendAsync(Events.Make("bulk-2", EventClass.Bulk, collapseKey: "a")));
        Assert.False(await scene.SendAsync(Events.Make("typing-2", EventClass.Transient, collapseKey: "a")));
        Assert.True(await scene.SendAsync(Events.Make("call-2", EventClass.Call, collapseKey: "a")));
        Assert.Equal([(1, "call-2"), (2, "message"), (3, "x"), (4, "bulk-2")], scene.Drain());
    }

    [Fact]
    public async Task TrySend_OverHalf_OlderEventThatComesLater_ReplacesNothingAndStays()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync(o => o.QueueItems = 8);
        await scene.SendAsync(Events.Make("a-2", collapseKey: "a", at: now));
        await scene.SendAsync(Events.Make("a-1", collapseKey: "a", at: now.AddSeconds(-2)));
        await scene.SendAsync("x");
        await scene.SendAsync("y");
        await scene.SendAsync("z");
        Assert.True(await scene.SendAsync(Events.Make("a-0", collapseKey: "a", at: now.AddSeconds(-3))));
        Assert.Equal(["a-2", "a-1", "x", "y", "z", "a-0"], scene.Drain().Select(static frame => frame.Id));
    }

    [Fact]
    public async Task TrySend_UnderHalf_DoesNotConflate()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 8);
        await scene.SendAsync(Events.Make("a-1", collapseKey: "a"));
        await scene.SendAsync(Events.Make("a-2", collapseKey: "a"));
        Assert.Equal([(1, "a-1"), (2, "a-2")], scene.Drain());
    }

    [Fact]
    public async Task TrySend_WrittenFrames_AreNotConflated()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 4);
        for (var i = 0; i < 4; i++)
        {
            Assert.True(await scene.SendAsync(Events.Make($"a-{i}", collapseKey: "a")));
            scene.Drain();
        }

        Assert.Equal(4, scene.Session.Snapshot().Unacked);
    }

    [Fact]
    public async Task TrySend_OverHalf_DropsTransientAndGoesOn()
    {
        await using var scene = await OpenAsync(o => o.QueueItems = 4);
        Assert.True(await scene.SendAsync("typing", EventClass.Transient));
        await scene.SendAsync("m-1");
        await scene.SendAsync("m-2");
        await scene.SendAsync("m-3");
        Assert.False(await scene.SendAsync("typing-2", EventClass.Transient));

        Assert.Equal([(1, "m-1"), (2, "m-2"), (3, "m-3")], scene.Drain());
        Assert.Null(scene.Transport.Closed);
    }

    [Fact]
    public async Task TryTake_Transient_HasNoSeqAndIsNotKept()
    {
        await using var scene = await OpenAsync();
        await scene.SendAsync("typing", EventClass.Transient);
        await scene.SendAsync("m");
        Assert.Equal([(0, "typing"), (1, "m")], scene.Drain());
        Assert.Equal(1, scene.Session.Snapshot().Unacked);
        Assert.Equal(2, scene.Session.Snapshot().FramesSent);
    }

    [Fact]
    public async Task TryTake_ExpiredWhileItWaited_IsSkippedWithoutASeqAndCounted()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync();
        await scene.SendAsync(Events.Make("late", ttl: TimeSpan.FromSeconds(1), at: now));
        await scene.SendAsync(Events.Make("now-or-never", ttl: TimeSpan.Zero, at: now));
        await scene.SendAsync(Events.Make("alive", at: now));
        Assert.Equal([(1, "now-or-never"), (2, "alive")], scene.Drain(now.AddSeconds(5)));
        Assert.Equal(1, scene.Parts.Over);
    }

    [Fact]
    public async Task TryWithdraw_StillWaiting_NeverLeaves()
    {
        await using var scene = await OpenAsync();
        var ring = Events.Make("ring", EventClass.Call);
        await scene.SendAsync(ring);
        Assert.True(await scene.WithdrawAsync("ring"));
        Assert.Empty(scene.Drain());
    }

    [Fact]
    public async Task TryWithdraw_Written_SendsAWithdrawFrameWhoseAckConfirmsNoEvent()
    {
        await using var scene = await OpenAsync();
        var ring = Events.Make("ring", EventClass.Call);
        await scene.SendAsync(ring);
        scene.Drain();
        scene.Session.Acknowledge(1);
        await scene.FlushAsync();
        Assert.True(await scene.WithdrawAsync("ring"));
        Assert.True(await scene.WithdrawAsync("ring", "seen")); // one frame is enough

        Assert.True(scene.Session.TryTake(scene.Transport, TimeProvider.System.GetUtcNow(), out var next));
        Assert.Equal("""{"type":"withdraw","seq":2,"id":"ring","reason":"answered"}""", FrameTests.Text(next.Frame, next.Seq));
        var acked = 0;
        scene.Hub.OnAcked = _ => acked++;
        Assert.Equal(1, scene.Session.Acknowledge(2));
        await scene.FlushAsync();
        Assert.Equal(0, acked);
    }

    [Fact]
    public async Task TryWithdraw_MessagesWait_LeavesBeforeThem()
    {
        await using var scene = await OpenAsync();
        await scene.SendAsync("ring", EventClass.Call);
        Assert.Equal([(1, "ring")], scene.Drain());
        await scene.SendAsync("m-1");
        await scene.SendAsync("m-2");
        Assert.True(await scene.WithdrawAsync("ring"));
        Assert.Equal([(2, "withdraw ring"), (3, "m-1"), (4, "m-2")], scene.Drain());
    }

    [Fact]
    public async Task Attach_EndedBefore_ClosesTheConnectionWithThatReason()
    {
        await using var scene = await OpenAsync(attach: false);
        scene.Link.Close(SessionScene.Id, SessionClose.Kicked);
        await scene.FlushAsync();
        scene.Session.Attach(scene.Transport);
        Assert.Equal(SessionClose.Kicked, scene.Transport.Closed);
    }

    [Fact]
    public async Task Link_OtherSessionsId_TouchesNothing()
    {
        await using var scene = await OpenAsync();
        Assert.False(scene.Link.TrySend("s-2", Events.Make("m")));
        Assert.False(scene.Link.TryWithdraw("s-2", Events.Withdraw("m", "answered")));
        scene.Link.Close("s-2", SessionClose.Kicked);
        await scene.FlushAsync();
        Assert.Empty(scene.Drain());
        Assert.Null(scene.Transport.Closed);
    }

    [Fact]
    public async Task RandomTalk_AgainstASimpleModel_LosesAndRepeatsNothing()
    {
        var random = new Random(4711);
        for (var round = 0; round < 100; round++)
        {
            await using var scene = await OpenAsync(o => o.QueueItems = 64);
            var sent = new List<string>();
            var written = new List<string>();
            var acked = new List<string>();
            scene.Hub.OnAcked = acked.Add;
            for (var step = 0; step < 60; step++)
            {
                switch (random.Next(3))
                {
                    case 0 when await scene.SendAsync($"e-{step}"):
                        sent.Add($"e-{step}");
                        break;
                    case 1 when scene.Session.TryTake(scene.Transport, TimeProvider.System.GetUtcNow(), out var next):
                        written.Add(next.Frame.EventId);
                        Assert.Equal(written.Count, next.Seq);
                        break;
                    case 2:
                        scene.Session.Acknowledge(random.Next(written.Count + 1));
                        break;
                }
            }

            written.AddRange(scene.Drain().Select(w => w.Id));
            scene.Session.Acknowledge(written.Count);
            await scene.FlushAsync();
            Assert.Equal(sent, written);
            Assert.Equal(sent, acked);
        }
    }

    private Task<SessionScene> OpenAsync(Action<WebSocketServerOptions>? configure = null, bool attach = true) =>
        SessionScene.OpenAsync(_overBytes, configure, attach);
}
