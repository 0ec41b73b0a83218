using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>By a hub in the process.</summary>
public sealed class DirectSessionDetachedTests() : SessionDetachedTests(overBytes: false);

/// <summary>By a hub that is reached by bytes only.</summary>
public sealed class ByteLinkSessionDetachedTests() : SessionDetachedTests(overBytes: true);

/// <summary>What a session takes and forgets while it has no connection, and what ends it.</summary>
public abstract class SessionDetachedTests
{
    private readonly bool _overBytes;

    protected SessionDetachedTests(bool overBytes) => _overBytes = overBytes;

    [Fact]
    public async Task Detached_Sends_AreRefusedAndWhatIsOnlyForTheMomentIsDropped()
    {
        var now = TimeProvider.System.GetUtcNow();
        await using var scene = await OpenAsync();
        await SendAsync(scene, "waits");
        await scene.SendAsync("typing", EventClass.Transient);
        await scene.SendAsync(Events.Make("now-or-never", ttl: TimeSpan.Zero, at: now));
        await scene.LoseAsync();
        Assert.False(await scene.SendAsync("meanwhile"));
        Assert.False(await scene.ReplayAsync(Events.Make("old")));
        Assert.True(scene.Session.HasWaiting);
        await scene.ResumeAsync(0);
        Assert.Equal([(1, "waits")], scene.Drain(now));
    }

    [Fact]
    public async Task Detached_Withdrawn_IsNeverShownByAResumeAndClearedIfItWas()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "ring", "other");
        scene.Drain();
        await SendAsync(scene, "waits");
        await scene.LoseAsync();
        Assert.True(await scene.WithdrawAsync("waits"));
        Assert.False(await scene.WithdrawAsync("ring")); // perhaps on the screen: the hub clears it in another way as well
        Assert.Equal(1, await scene.ResumeAsync(0));
        Assert.Equal([(2, "other"), (3, "withdraw ring")], scene.Drain());
        Assert.Equal(["other"], await AckAsync(scene, 3));
    }

    [Fact]
    public async Task Resumed_WithdrawnBeforeItIsRepeated_IsNeverWritten()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "ring", "other");
        scene.Drain();
        await scene.LoseAsync();
        scene.Hub.OnResumed = _ => scene.Link.TryWithdraw(SessionScene.Id, Events.Withdraw("ring", "answered"));
        await scene.ResumeAsync(0);
        Assert.Equal([(2, "other")], scene.Drain());
    }

    [Theory]
    [InlineData(4002, true)]
    [InlineData(4005, true)]
    [InlineData(4006, true)]
    [InlineData(4000, false)]
    [InlineData(4001, false)]
    [InlineData(4004, false)]
    [InlineData(4500, false)]
    [InlineData(4502, false)]
    [InlineData(4503, false)]
    public async Task Leave_ByCloseCode_LingersOrEnds(int code, bool lingers)
    {
        SessionClose[] all =
        [
            SessionClose.Drain, SessionClose.SlowConsumer, SessionClose.TokenExpired, SessionClose.HubError, SessionClose.Overloaded,
            SessionClose.KeepAliveTimeout, SessionClose.Replaced, SessionClose.ProtocolError, SessionClose.Kicked,
        ];
        await using var scene = await OpenAsync();
        await scene.LoseAsync(all.Single(c => c.Code == code));
        Assert.Equal(lingers ? 0 : 1, scene.Hub.ClosedCount);
        Assert.Equal(lingers ? 0L : null, await scene.ResumeAsync(0));
    }

    [Fact]
    public async Task Close_ByTheHubWhileDetached_IsReportedAtOnce()
    {
        await using var scene = await OpenAsync();
        await scene.LoseAsync();
        scene.Link.Close(SessionScene.Id, SessionClose.Kicked);
        Assert.Equal(SessionScene.Key, await scene.Hub.NextClosedAsync());
        Assert.Null(await scene.ResumeAsync(0));
    }

    [Fact]
    public async Task Detached_LateAck_Counts()
    {
        await using var scene = await OpenAsync();
        await SendAsync(scene, "a", "b");
        scene.Drain();
        await scene.LoseAsync();
        Assert.Equal(["a"], await AckAsync(scene, 1));
        Assert.Equal(1, await scene.ResumeAsync(0));
        Assert.Equal([(2, "b")], scene.Drain());
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

    private Task<SessionScene> OpenAsync() => SessionScene.OpenAsync(_overBytes);
}
