using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>By a hub in the process.</summary>
public sealed class DirectSessionRaceTests() : SessionRaceTests(overBytes: false);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkSessionRaceTests() : SessionRaceTests(overBytes: true);

/// <summary>Everything at once to one session: the hub hears a story that makes sense (see <see cref="RecordingHub.Faults"/>), and nothing stays.</summary>
public abstract class SessionRaceTests
{
    private readonly bool _overBytes;

    protected SessionRaceTests(bool overBytes) => _overBytes = overBytes;

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public async Task ResumesLossesAcksAndSends_AtOnce_EndInOneClosed(int seed)
    {
        for (var round = 0; round < 16; round++)
        {
            await using var scene = await SessionScene.OpenAsync(_overBytes);
            scene.Hub.Dawdles = round % 4 < 2;
            var start = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var endsAt = round % 2 == 0 ? 15 : int.MaxValue;
            var clients = Enumerable.Range(0, 4).Select(async client =>
            {
                var random = new Random((seed * 1000) + (round * 10) + client);
                await start.Task;
                for (var step = 0; step < 30; step++)
                {
                    await ActAsync(scene, random, $"{client}-{step}");
                    if (client == 0 && step == endsAt)
                    {
                        scene.Link.Close(SessionScene.Id, SessionClose.Kicked);
                    }
                }
            }).ToArray();
            start.SetResult();
            await Task.WhenAll(clients).WaitAsync(SocketHost.Patience);
        }
    }

    [Fact]
    public async Task Resume_ManyConnectionsAtOnce_TheLastOwnsItAndTheOthersAreTold()
    {
        await using var scene = await SessionScene.OpenAsync(_overBytes);
        await scene.SendAsync("a");
        scene.Drain();
        var transports = Enumerable.Range(0, 20).Select(_ => new FakeTransport()).ToArray();
        var resumed = await Task.WhenAll(transports.Select(t => Task.Run(() => ResumeAsync(scene, t, 0))));
        Assert.All(resumed, seq => Assert.Equal(0, seq));
        var owner = Assert.Single(transports, t => t.Closed is null);
        Assert.True(scene.Session.IsCarriedBy(owner));
        Assert.Equal([(1, "a")], owner.Drain(scene.Session));
        Assert.All(transports, t => Assert.True(t == owner || t.Closed == SessionClose.Replaced));
    }

    private static async Task ActAsync(SessionScene scene, Random random, string id)
    {
        switch (random.Next(5))
        {
            case 0:
                var transport = new FakeTransport();
                if (await ResumeAsync(scene, transport, 0) is not null)
                {
                    _ = transport.Drain(scene.Session);
                    if (random.Next(2) == 0)
                    {
                        scene.Session.Leave(transport, SessionEnds.Lost);
                    }
                }

                break;
            case 1:
                scene.Session.Leave(scene.Transport, SessionEnds.Lost); // of a connection that may be another's by now
                break;
            case 2:
                scene.Link.TrySend(SessionScene.Id, Events.Make(id, random.Next(2) == 0 ? EventClass.Call : EventClass.Message));
                break;
            case 3:
                scene.Link.TryWithdraw(SessionScene.Id, Events.Withdraw(id, "answered"));
                break;
            default:
                scene.Session.Acknowledge(random.Next(3));
                break;
        }
    }

    private static async Task<long?> ResumeAsync(SessionScene scene, FakeTransport transport, long seq)
    {
        var confirmed = await scene.Session.TryResumeAsync(
            transport, ConnectionPeer.Unknown, seq, SessionState.Active, SessionScene.Ada, CancellationToken.None);
        if (confirmed is not null)
        {
            scene.Session.Attach(transport);
        }

        return confirmed;
    }
}
