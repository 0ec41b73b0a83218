using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>The bounds on sessions without a connection.</summary>
public class SessionTableTests
{
    private readonly FakeTimeProvider _clock = new();
    private readonly RecordingHub _hub = new();

    [Fact]
    public async Task Overdue_ByTime_EndsTheOldestWhenTheirTimeIsOverAndNotBefore()
    {
        var parts = Parts(o => o.Linger = TimeSpan.FromSeconds(60));
        var first = await LoseAsync(parts, "tab-1");
        _clock.Advance(TimeSpan.FromSeconds(30));
        await LoseAsync(parts, "tab-2");
        _clock.Advance(TimeSpan.FromSeconds(29.9));
        parts.EndOverdue();
        Assert.Equal(2, parts.Sessions.Lingering);
        _clock.Advance(TimeSpan.FromSeconds(0.1));
        parts.EndOverdue();
        Assert.Equal(1, parts.Sessions.Lingering);
        Assert.Equal(first.Key, await _hub.NextClosedAsync());
        _clock.Advance(TimeSpan.FromSeconds(30));
        parts.EndOverdue();
        Assert.Equal((0, 0), (parts.Sessions.Lingering, parts.Sessions.Count));
    }

    [Fact]
    public async Task Overdue_MoreThanConnectionsMayBe_EndsTheOldest()
    {
        var parts = Parts(o => o.MaxConnections = 3);
        var sessions = new List<Session>();
        for (var i = 0; i < 5; i++)
        {
            sessions.Add(await LoseAsync(parts, $"tab-{i}"));
        }

        Assert.Equal(3, parts.Sessions.Lingering);
        Assert.Equal([sessions[0].Key, sessions[1].Key], [await _hub.NextClosedAsync(), await _hub.NextClosedAsync()]);
    }

    [Fact]
    public async Task Linger_Zero_EndsASessionWithItsConnection()
    {
        var parts = Parts(o => o.Linger = TimeSpan.Zero);
        var session = await LoseAsync(parts, "tab-1");
        Assert.Equal(session.Key, await _hub.NextClosedAsync());
        Assert.Equal(0, parts.Sessions.Count);
    }

    [Fact]
    public async Task Stop_EndsAllAndNothingLingersAfterwards()
    {
        var parts = Parts(_ => { });
        await LoseAsync(parts, "tab-1");
        parts.Sessions.Stop();
        parts.EndOverdue();
        await LoseAsync(parts, "tab-2");
        Assert.Equal(2, _hub.ClosedCount);
        Assert.Equal(0, parts.Sessions.Count);
    }

    [Theory]
    [InlineData(-1, 1024, 100)]
    [InlineData(3601, 1024, 100)]
    [InlineData(60, 1023, 100)]
    [InlineData(60, 1024, -1)]
    public void Validate_OutOfBounds_NamesTheMember(int linger, int bytes, int topics)
    {
        var options = new WebSocketServerOptions { Linger = TimeSpan.FromSeconds(linger), LingerBytes = bytes, MaxTopics = topics };
        Assert.Single(new WebSocketServerRules().Validate(null, options).Failures!);
    }

    private ServerParts Parts(Action<WebSocketServerOptions> configure)
    {
        var options = new WebSocketServerOptions();
        configure(options);
        return new ServerParts(_hub, _hub, _clock, options, null, NullLogger.Instance);
    }

    private async Task<Session> LoseAsync(ServerParts parts, string device)
    {
        var key = new SessionKey("demo", "ada", device, $"s-{device}");
        var session = new Session(key, SessionState.Active, _clock.GetUtcNow(), ConnectionPeer.Unknown, parts);
        await _hub.OpenedAsync(new SessionOpened(key, SessionState.Active, session, _clock.GetUtcNow()), CancellationToken.None);
        var transport = new FakeTransport();
        session.Attach(transport);
        session.Leave(transport, SessionEnds.Lost);
        return session;
    }
}
