using Pnh.Channels.WebSockets;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The logical stream, without any connection.</summary>
public class SessionTests
{
    private const string Id = "s-1";
    private readonly RecordingHub _hub = new();
    private readonly FakeTransport _transport = new();

    [Fact]
    public void TryTake_CallQueuedLast_LeavesFirstAndGetsTheFirstSeq()
    {
        var session = Open();
        Send(session, "m-1");
        Send(session, "m-2");
        Send(session, "ring", EventClass.Call);

        Assert.Equal([(1, "ring"), (2, "m-1"), (3, "m-2")], FakeTransport.Drain(session));
    }

    [Fact]
    public async Task Acknowledge_Cumulative_ConfirmsEachEventOnceInOrder()
    {
        var session = Open();
        Send(session, "a");
        Send(session, "b");
        Send(session, "c");
        FakeTransport.Drain(session);

        Assert.Equal(2, session.Acknowledge(2, _hub));
        Assert.Equal(0, session.Acknowledge(1, _hub));
        Assert.Equal(1, session.Acknowledge(3, _hub));
        Assert.Equal(["a", "b", "c"], [await _hub.NextAckedAsync(), await _hub.NextAckedAsync(), await _hub.NextAckedAsync()]);
        Assert.Equal(0, session.Snapshot().Unacked);
    }

    [Fact]
    public void Acknowledge_SeqNeverGiven_IsRefusedAndConfirmsNothing()
    {
        var session = Open();
        Send(session, "written");
        FakeTransport.Drain(session);
        Send(session, "waiting");

        Assert.Null(session.Acknowledge(2, _hub));
        Assert.Equal(1, session.Snapshot().Unacked);
    }

    [Fact]
    public void TrySend_NeverAcked_EndsAsSlowConsumerAtTheBound()
    {
        var session = Open(o => o.QueueItems = 4);
        for (var i = 0; i < 4; i++)
        {
            Assert.True(Send(session, $"m-{i}"));
            FakeTransport.Drain(session);
        }

        Assert.False(Send(session, "one-more"));
        Assert.Equal(SessionClose.SlowConsumer, _transport.Closed);
        Assert.False(Send(session, "after-the-end"));
    }

    [Fact]
    public void TrySend_AckedInTime_NeverEnds()
    {
        var session = Open(o => o.QueueItems = 4);
        for (var i = 1; i <= 100; i++)
        {
            Assert.True(Send(session, $"m-{i}"));
            FakeTransport.Drain(session);
            session.Acknowledge(i, _hub);
        }

        Assert.Null(_transport.Closed);
    }

    [Fact]
    public void TrySend_BytesOverTheBound_EndsAsSlowConsumer_ButOneLargeFrameFits()
    {
        var session = Open(o => o.QueueBytes = 4096);
        Assert.True(session.TrySend(Id, Events.Make("large", data: $"\"{new string('x', 8000)}\"")));
        Assert.False(Send(session, "small"));
        Assert.Equal(SessionClose.SlowConsumer, _transport.Closed);
    }

    [Fact]
    public void TrySend_OverHalf_KeepsTheNewestOfEachCollapseKeyInOrder()
    {
        var session = Open(o => o.QueueItems = 8);
        foreach (var (id, key) in new[] { ("a-1", "a"), ("b-1", "b"), ("a-2", "a"), ("x", null), ("b-2", "b") })
        {
            Assert.True(session.TrySend(Id, Events.Make(id, collapseKey: key)));
        }

        Assert.True(session.TrySend(Id, Events.Make("a-3", collapseKey: "a")));
        Assert.Equal([(1, "x"), (2, "b-2"), (3, "a-3")], FakeTransport.Drain(session));
    }

    [Fact]
    public void TrySend_UnderHalf_DoesNotConflate()
    {
        var session = Open(o => o.QueueItems = 8);
        session.TrySend(Id, Events.Make("a-1", collapseKey: "a"));
        session.TrySend(Id, Events.Make("a-2", collapseKey: "a"));
        Assert.Equal([(1, "a-1"), (2, "a-2")], FakeTransport.Drain(session));
    }

    [Fact]
    public void TrySend_WrittenFrames_AreNotConflated()
    {
        var session = Open(o => o.QueueItems = 4);
        for (var i = 0; i < 4; i++)
        {
            Assert.True(session.TrySend(Id, Events.Make($"a-{i}", collapseKey: "a")));
            FakeTransport.Drain(session);
        }

        Assert.Equal(4, session.Snapshot().Unacked);
    }

    [Fact]
    public void TrySend_OverHalf_DropsTransientAndGoesOn()
    {
        var session = Open(o => o.QueueItems = 4);
        Assert.True(Send(session, "typing", EventClass.Transient));
        Send(session, "m-1");
        Send(session, "m-2");
        Send(session, "m-3");
        Assert.False(Send(session, "typing-2", EventClass.Transient));

        Assert.Equal([(1, "m-1"), (2, "m-2"), (3, "m-3")], FakeTransport.Drain(session));
        Assert.Null(_transport.Closed);
    }

    [Fact]
    public void TryTake_Transient_HasNoSeqAndIsNotKept()
    {
        var session = Open();
        Send(session, "typing", EventClass.Transient);
        Send(session, "m");
        Assert.Equal([(0, "typing"), (1, "m")], FakeTransport.Drain(session));
        Assert.Equal(1, session.Snapshot().Unacked);
        Assert.Equal(2, session.Snapshot().FramesSent);
    }

    [Fact]
    public void TryTake_ExpiredWhileItWaited_IsSkippedWithoutASeq()
    {
        var now = TimeProvider.System.GetUtcNow();
        var session = Open();
        session.TrySend(Id, Events.Make("late", ttl: TimeSpan.FromSeconds(1), at: now));
        session.TrySend(Id, Events.Make("now-or-never", ttl: TimeSpan.Zero, at: now));
        session.TrySend(Id, Events.Make("alive", at: now));
        Assert.Equal([(1, "now-or-never"), (2, "alive")], FakeTransport.Drain(session, now.AddSeconds(1)));
    }

    [Fact]
    public void TryWithdraw_StillWaiting_NeverLeaves()
    {
        var session = Open();
        var ring = Events.Make("ring", EventClass.Call);
        session.TrySend(Id, ring);
        Assert.True(session.TryWithdraw(ring, "answered"));
        Assert.Empty(FakeTransport.Drain(session));
    }

    [Fact]
    public void TryWithdraw_Written_SendsAWithdrawFrameWhoseAckConfirmsNoEvent()
    {
        var session = Open();
        var ring = Events.Make("ring", EventClass.Call);
        session.TrySend(Id, ring);
        FakeTransport.Drain(session);
        session.Acknowledge(1, _hub);
        Assert.True(session.TryWithdraw(ring, "answered"));

        Assert.True(session.TryTake(TimeProvider.System.GetUtcNow(), out var frame, out var seq));
        Assert.Equal("""{"type":"withdraw","seq":2,"id":"ring","reason":"answered"}""", FrameTests.Text(frame, seq));
        var acked = 0;
        _hub.OnAcked = _ => acked++;
        Assert.Equal(1, session.Acknowledge(2, _hub));
        Assert.Equal(0, acked);
    }

    [Fact]
    public void Attach_EndedBefore_ClosesTheConnectionWithThatReason()
    {
        var session = Make();
        session.Close(Id, SessionClose.Kicked);
        session.Attach(_transport);
        Assert.Equal(SessionClose.Kicked, _transport.Closed);
    }

    [Fact]
    public void Link_OtherSessionsId_TouchesNothing()
    {
        var session = Open();
        Assert.False(session.TrySend("s-2", Events.Make("m")));
        session.Close("s-2", SessionClose.Kicked);
        Assert.Null(_transport.Closed);
    }

    [Fact]
    public void RandomTalk_AgainstASimpleModel_LosesAndRepeatsNothing()
    {
        var random = new Random(4711);
        for (var round = 0; round < 200; round++)
        {
            var session = Open(o => o.QueueItems = 64);
            var sent = new List<string>();
            var written = new List<string>();
            var acked = new List<string>();
            _hub.OnAcked = acked.Add;
            for (var step = 0; step < 60; step++)
            {
                switch (random.Next(3))
                {
                    case 0 when Send(session, $"e-{step}"):
                        sent.Add($"e-{step}");
                        break;
                    case 1 when session.TryTake(TimeProvider.System.GetUtcNow(), out var frame, out var seq):
                        written.Add(frame.Event.Id);
                        Assert.Equal(written.Count, seq);
                        break;
                    case 2:
                        session.Acknowledge(random.Next(written.Count + 1), _hub);
                        break;
                }
            }

            written.AddRange(FakeTransport.Drain(session).Select(w => w.Id));
            session.Acknowledge(written.Count, _hub);
            Assert.Equal(sent, written);
            Assert.Equal(sent, acked);
        }
    }

    private static bool Send(Session session, string id, EventClass @class = EventClass.Message) =>
        session.TrySend(Id, Events.Make(id, @class));

    private static Session Make(Action<WebSocketServerOptions>? configure = null)
    {
        var options = new WebSocketServerOptions();
        configure?.Invoke(options);
        var key = new SessionKey("demo", "ada", "tab-1", Id);
        return new Session(key, SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown, options);
    }

    private Session Open(Action<WebSocketServerOptions>? configure = null)
    {
        var session = Make(configure);
        session.Attach(_transport);
        return session;
    }
}
