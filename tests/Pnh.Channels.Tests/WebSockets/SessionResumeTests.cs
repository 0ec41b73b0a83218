using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>By a hub in the process.</summary>
public sealed class DirectSessionResumeTests() : SessionResumeTests(overBytes: false)
{
    [Fact]
    public async Task Join_LeftByAResumeBeforeTheHubHeardOfIt_IsLeftThere()
    {
        await using var scene = await SessionScene.OpenAsync(overBytes: false);
        scene.Hub.OnJoined = () => scene.Session.Topics.Leave(["room"]);

        Assert.Equal(["room"], scene.Session.Topics.Join(["room"], SessionScene.Ada with { Topics = ["room"] }, scene.Transport, allOrNone: true)?.Joined);

        Assert.Equal("left room", await scene.Hub.NextSaidAsync());
        Assert.Equal("joined room", await scene.Hub.NextSaidAsync());
        Assert.Equal("left room", await scene.Hub.NextSaidAsync());
    }
}

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkSessionResumeTests() : SessionResumeTests(overBytes: true);

/// <summary>What becomes of a session's frames and of its name when the connection is lost, without any connection.</summary>
public abstract class SessionResumeTests
{
    private readonly bool _overBytes;

    protected SessionResumeTests(bool overBytes) => _overBytes = overBytes;

    [Fact]
    public async Task Resume_SomeArrived_RepeatsTheRestWithItsSeqThenWhatWaits()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a", "b", "c");
        scene.Drain();
        await SendAsync(scene, "waits");
        await scene.LoseAsync();
        Assert.Equal(SessionScene.Key, await scene.Hub.NextDetachedAsync());

        Assert.Equal(1, await scene.ResumeAsync(1));
        Assert.Equal("a", await scene.Hub.NextAckedAsync());
        Assert.Equal(SessionScene.Key, await scene.Hub.NextResumedAsync());
        await SendAsync(scene, "new");
        Assert.Equal([(2, "b"), (3, "c"), (4, "waits"), (5, "new")], scene.Drain());
        Assert.Equal(4, scene.Session.Acknowledge(5));
    }

    [Fact]
    public async Task Join_OnTheConnectionBefore_JoinsNothing()
    {
        await using var scene = await OpenAsync();
        var (wide, old) = (SessionScene.Ada with { Topics = ["room"] }, scene.Transport);
        Assert.Equal(["room"], scene.Session.Topics.Join(["room"], wide, old, allOrNone: true)?.Joined);
        Assert.Equal("joined room", await scene.Hub.NextSaidAsync());

        Assert.NotNull(await scene.ResumeAsync(0));
        Assert.Equal("left room", await scene.Hub.NextSaidAsync());
        Assert.Null(scene.Session.Topics.Join(["room"], wide, old, allOrNone: true));
        await scene.FlushAsync();
        Assert.Equal(0, scene.Hub.Said);
    }

    [Fact]
    public async Task Resume_FoundOverdueAMomentBefore_GoesOn()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a", "b");
        scene.Drain();
        await scene.LoseAsync();
        scene.Hub.OnAcked = _ => scene.Session.EndLingering(); // between its claim and the hub's answer
        Assert.Equal(1, await scene.ResumeAsync(1));
        Assert.Null(scene.Transport.Closed);
        Assert.Equal([(2, "b")], scene.Drain());
    }

    [Fact]
    public async Task Resume_CallMeanwhile_OvertakesWhatWaitsButNotWhatIsRepeated()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        scene.Drain();
        await SendAsync(scene, "b");
        await scene.LoseAsync();
        Assert.Equal(0, await scene.ResumeAsync(0));
        await scene.SendAsync("ring", EventClass.Call);
        Assert.Equal([(1, "a"), (2, "ring"), (3, "b")], scene.Drain());
    }

    [Fact]
    public async Task Resume_ExpiredMeanwhile_LeavesAGapThatAcksPassWithoutConfirmingIt()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        await scene.SendAsync(Events.Make("short", ttl: TimeSpan.FromSeconds(5), at: now));
        await scene.SendAsync(Events.Make("now-or-never", ttl: TimeSpan.Zero, at: now));
        await SendAsync(scene, "d");
        scene.Drain(now);
        await scene.LoseAsync();
        Assert.Equal(0, await scene.ResumeAsync(0));

        Assert.Equal([(1, "a"), (4, "d")], scene.Drain(now.AddSeconds(10)));
        var acked = await AckAsync(scene, 4);
        Assert.Equal(["a", "d"], acked);
        Assert.Equal(0, scene.Session.Snapshot().Unacked);
    }

    [Fact]
    public async Task Resume_OnlyExpiredLeft_KeepsNoRoomForThem()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        await scene.SendAsync(Events.Make("short", ttl: TimeSpan.FromSeconds(5), at: now));
        scene.Drain(now);
        await scene.LoseAsync();
        Assert.Equal(1, await scene.ResumeAsync(1));
        Assert.Empty(scene.Drain(now.AddSeconds(10)));
        Assert.Equal(0, scene.Session.Snapshot().Unacked);
        await SendAsync(scene, "b");
        Assert.Equal([(3, "b")], scene.Drain(now.AddSeconds(10)));
    }

    [Fact]
    public async Task Resume_ExpiredBehindTheLast_IsGoneWithItsAck()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        await scene.SendAsync(Events.Make("short", ttl: TimeSpan.FromSeconds(5), at: now));
        scene.Drain(now);
        await scene.LoseAsync();
        Assert.Equal(0, await scene.ResumeAsync(0));
        Assert.Equal([(1, "a")], scene.Drain(now.AddSeconds(10)));
        Assert.Equal(["a"], await AckAsync(scene, 1));
        Assert.Equal(0, scene.Session.Snapshot().Unacked);
    }

    [Fact]
    public async Task Resume_LostAgainBeforeTheEndOfTheRepeats_StartsThemAgain()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a", "b", "c");
        scene.Drain();
        for (var times = 0; times < 3; times++)
        {
            await scene.LoseAsync();
            Assert.Equal(0, await scene.ResumeAsync(0));
            Assert.True(scene.Session.TryTake(scene.Transport, TimeProvider.System.GetUtcNow(), out var first));
            Assert.Equal((1, "a", true), (first.Seq, first.Frame.EventId, first.IsRepeat));
        }

        Assert.Equal([(2, "b"), (3, "c")], scene.Drain());
    }

    [Fact]
    public async Task Resume_SeqOlderThanWhatWasAcked_ConfirmsNothingAndSaysWhatIs()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a", "b", "c");
        scene.Drain();
        scene.Session.Acknowledge(2);
        await scene.LoseAsync();
        Assert.Equal(2, await scene.ResumeAsync(1));
        Assert.Equal([(3, "c")], scene.Drain());
    }

    [Fact]
    public async Task Resume_SeqNeverGiven_IsRefusedAndNothingHappens()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        scene.Drain();
        await SendAsync(scene, "waits");
        await scene.LoseAsync();
        Assert.Null(await scene.ResumeAsync(2));
        Assert.Equal(1, scene.Parts.Sessions.Lingering);
        Assert.Equal(0, await scene.ResumeAsync(0));
        Assert.Equal([(1, "a"), (2, "waits")], scene.Drain());
    }

    [Fact]
    public async Task Resume_OldConnectionStillHangs_TakesItOver()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        var older = scene.Transport;
        scene.Drain();
        Assert.Equal(0, await scene.ResumeAsync(0));
        Assert.Equal(SessionClose.Replaced, older.Closed);
        await scene.Hub.NextDetachedAsync();
        await scene.Hub.NextResumedAsync();

        Assert.Empty(older.Drain(scene.Session));
        scene.Session.Leave(older, SessionClose.Replaced);
        Assert.True(await scene.SendAsync("b"));
        Assert.Equal([(1, "a"), (2, "b")], scene.Drain());
        Assert.Null(scene.Transport.Closed);
    }

    [Fact]
    public async Task Resume_HubKnowsItNoMore_EndsItAndTheConnectionGoesOn()
    {
        await using var scene = await OpenAsync();
        await scene.LoseAsync();
        scene.Hub.OnResumed = _ => false;
        Assert.Null(await scene.ResumeAsync(0));
        Assert.Equal(SessionScene.Key, await scene.Hub.NextClosedAsync());
        Assert.Null(scene.Transport.Closed);
        Assert.Null(await scene.ResumeAsync(0));
    }

    [Fact]
    public async Task Resume_HubSendsMeanwhile_ComesAfterTheRepeats()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a");
        scene.Drain();
        await scene.LoseAsync();
        scene.Hub.OnResumed = _ =>
        {
            scene.Link.TryReplay(SessionScene.Id, Events.Make("meanwhile"));
            return true;
        };
        Assert.Equal(0, await scene.ResumeAsync(0));
        Assert.Equal([(1, "a"), (2, "meanwhile")], scene.Drain());
        Assert.Empty(scene.Hub.RefusedIds);
    }

    [Fact]
    public async Task Resume_HubEndsItMeanwhile_ClosesTheNewConnection()
    {
        await using var scene = await OpenAsync();
        await scene.LoseAsync();
        scene.Hub.OnResumed = _ =>
        {
            scene.Link.Close(SessionScene.Id, SessionClose.Kicked);
            return true;
        };
        Assert.Equal(0, await scene.ResumeAsync(0));
        Assert.Equal(SessionClose.Kicked, scene.Transport.Closed);
        scene.Session.Leave(scene.Transport, SessionClose.Kicked);
        Assert.Equal(SessionScene.Key, await scene.Hub.NextClosedAsync());
    }

    [Fact]
    public async Task RandomTalk_WithLosses_ConfirmsEveryEventOnceInOrder()
    {
        var random = new Random(1848);
        for (var round = 0; round < 60; round++)
        {
            await using var scene = await OpenAsync(o => o.QueueItems = 512);
            var (sent, acked, arrived) = (new List<string>(), new List<string>(), new List<string>());
            scene.Hub.OnAcked = acked.Add;
            for (var step = 0; step < 80; step++)
            {
                switch (random.Next(6))
                {
                    case 0 or 1 when await scene.SendAsync($"e-{step}"):
                        sent.Add($"e-{step}");
                        break;
                    case 2 when scene.Session.TryTake(scene.Transport, TimeProvider.System.GetUtcNow(), out var next):
                        Assert.True(next.Seq <= arrived.Count + 1); // no gap
                        if (next.Seq == arrived.Count + 1)
                        {
                            arrived.Add(next.Frame.EventId);
                        }

                        Assert.Equal(arrived[(int)next.Seq - 1], next.Frame.EventId);
                        break;
                    case 3:
                        scene.Session.Acknowledge(random.Next(arrived.Count + 1));
                        break;
                    case 4 when random.Next(2) == 0:
                        _ = scene.Drain(); // written, and lost on the way
                        await scene.LoseAsync();
                        Assert.False(await scene.SendAsync("refused"));
                        Assert.NotNull(await scene.ResumeAsync(arrived.Count));
                        break;
                    case 5 when random.Next(4) == 0:
                        Assert.NotNull(await scene.ResumeAsync(arrived.Count)); // the old connection hangs
                        break;
                }
            }

            arrived.AddRange(scene.Drain().Where(w => w.Seq > arrived.Count).Select(w => w.Id).ToList());
            scene.Session.Acknowledge(arrived.Count);
            await scene.FlushAsync();
            Assert.Equal(sent, arrived);
            Assert.Equal(sent, acked);
        }
    }

    private static async Task SendAsync(SessionScene scene, params string[] ids)
    {
        foreach (var id in ids)
        {
            Assert.True(await scene.SendAsync(id));
        }
    }

    private static async Task<List<string>> AckAsync(SessionScene scene, long seq)
    {
        var acked = new List<string>();
        scene.Hub.OnAcked = acked.Add;
        scene.Session.Acknowledge(seq);
        await scene.FlushAsync();
        return acked;
    }

    private Task<SessionScene> OpenAsync(Action<WebSocketServerOptions>? configure = null) => SessionScene.OpenAsync(_overBytes, configure);
}
