using Pnh.Core.Events;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>By a hub in the process.</summary>
public sealed class DirectReplayTests() : ReplayTests(overBytes: false);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkReplayTests() : ReplayTests(overBytes: true);

/// <summary>A mailbox larger than a session's queue, by a hub that keeps in mind only what is not acked and what it has under way.</summary>
public abstract class ReplayTests
{
    // 20 frames of 40 kB: three times the 256 kB that a session keeps.
    private const int Count = 20;
    private static readonly string Data = $"\"{new string('x', 40_000)}\"";
    private readonly bool _overBytes;

    protected ReplayTests(bool overBytes) => _overBytes = overBytes;

    [Theory]
    [InlineData(int.MaxValue)]
    [InlineData(3)]
    public async Task Replay_MailboxLargerThanTheQueue_FollowsTheAcksToTheEnd(int lossEvery)
    {
        await using var scene = await SessionScene.OpenAsync(_overBytes);
        var mailbox = new Mailbox(scene);
        mailbox.Replay();
        await scene.FlushAsync();
        Assert.True(await scene.SendAsync("newer")); // what comes meanwhile has its own half of the room

        var arrived = new List<string>();
        for (var talk = 1; arrived.Count < Count + 1; talk++)
        {
            Assert.InRange(talk, 1, 100);
            var frames = scene.Drain();
            if (talk % lossEvery == 0)
            {
                // All that was written is lost on the way, but for the first.
                frames = [.. frames.Take(1)];
                await scene.LoseAsync();
                Assert.NotNull(await scene.ResumeAsync(arrived.Count + frames.Count));
            }

            arrived.AddRange(frames.Select(f => f.Id));
            scene.Session.Acknowledge(arrived.Count);
            await scene.FlushAsync();
            mailbox.Replay();
            await scene.FlushAsync();
        }

        Assert.Null(scene.Transport.Closed);
        Assert.Equal(Enumerable.Range(0, Count).Select(i => $"e{i}"), arrived.Where(id => id != "newer"));
        Assert.Empty(mailbox.Left);
        Assert.Equal(_overBytes, !scene.Hub.RefusedIds.IsEmpty);
    }

    [Fact]
    public async Task Replay_BehindWhatNobodyAcks_IsAskedForWhenItIsWritten()
    {
        await using var scene = await SessionScene.OpenAsync(_overBytes, options => options.QueueItems = 8);
        for (var n = 0; n < 4; n++)
        {
            Assert.True(await scene.SendAsync($"cursor-{n}", EventClass.Transient));
        }

        Assert.False(await scene.ReplayAsync(Events.Make("waiting")));
        Assert.Equal(4, scene.Drain().Count);
        Assert.Equal("has room", await scene.Hub.NextSaidAsync());
        Assert.True(await scene.ReplayAsync(Events.Make("waiting")));
        Assert.Equal([(1, "waiting")], scene.Drain());
        scene.Session.Acknowledge(1);
        await scene.FlushAsync();
        Assert.True(await scene.SendAsync("after"));
        Assert.Equal([(2, "after")], scene.Drain());
        Assert.Equal(0, scene.Hub.Said);
    }

    [Fact]
    public async Task Replay_BehindWithdrawals_IsAskedForWhenTheyAreAcked()
    {
        await using var scene = await SessionScene.OpenAsync(_overBytes, options => options.QueueItems = 8);
        for (var n = 0; n < 4; n++)
        {
            Assert.True(await scene.WithdrawAsync($"gone-{n}"));
        }

        Assert.Equal(4, scene.Drain().Count);
        Assert.False(await scene.ReplayAsync(Events.Make("waiting")));
        Assert.Equal(4, scene.Session.Acknowledge(4));
        await scene.FlushAsync();
        Assert.Equal(1, scene.Hub.Said);
        Assert.Equal("has room", await scene.Hub.NextSaidAsync());
        Assert.True(await scene.ReplayAsync(Events.Make("waiting")));
        Assert.Equal([(5, "waiting")], scene.Drain());
        scene.Session.Acknowledge(5);
        await scene.FlushAsync();
        Assert.Equal(0, scene.Hub.Said);
    }

    /// <summary>The hub's memory: oldest first, and no younger one after a refused one.</summary>
    private sealed class Mailbox
    {
        private readonly SessionScene _scene;
        private readonly Lock _gate = new();
        private readonly List<Event> _left = [.. Enumerable.Range(0, Count).Select(i => Events.Make($"e{i}", data: Data))];
        private readonly HashSet<string> _underWay = [];

        public Mailbox(SessionScene scene)
        {
            _scene = scene;
            scene.Hub.OnAcked = id =>
            {
                lock (_gate)
                {
                    _left.RemoveAll(e => e.Id == id);
                    _underWay.Remove(id);
                }
            };
            scene.Hub.OnRefused = id =>
            {
                lock (_gate)
                {
                    _underWay.Remove(id);
                }
            };
        }

        public IReadOnlyList<Event> Left => _left;

        public void Replay()
        {
            lock (_gate)
            {
                foreach (var waiting in _left.Where(e => !_underWay.Contains(e.Id)))
                {
                    if (!_scene.Link.TryReplay(SessionScene.Id, waiting))
                    {
                        return;
                    }

                    _underWay.Add(waiting.Id);
                }
            }
        }
    }
}
