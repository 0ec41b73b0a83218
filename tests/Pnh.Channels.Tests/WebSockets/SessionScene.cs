using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Tests.Links;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>A session between a hub, directly or over bytes, and a connection that the test plays. A call counts when its answer is known.</summary>
internal sealed class SessionScene : IAsyncDisposable
{
    public const string Id = "s-1";
    public static readonly SessionKey Key = new("demo", "ada", "tab-1", Id);
    public static readonly ClientIdentity Ada = RecordingHub.Identity("ada");
    private readonly ByteLink? _bytes;

    private SessionScene(bool overBytes, Action<WebSocketServerOptions>? configure, TimeProvider? clock)
    {
        _bytes = overBytes ? new ByteLink(Hub, Hub) : null;
        var options = new WebSocketServerOptions();
        configure?.Invoke(options);
        Parts = new ServerParts(_bytes?.Edge ?? Hub, Hub, clock ?? TimeProvider.System, options, null, NullLogger.Instance);
        Session = new Session(Key, SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown, Parts);
    }

    public RecordingHub Hub { get; } = new();

    public ServerParts Parts { get; }

    public Session Session { get; }

    public FakeTransport Transport { get; private set; } = new();

    /// <summary>The way that the hub has to the session.</summary>
    public ISessionLink Link { get; private set; } = null!;

    public static async Task<SessionScene> OpenAsync(
        bool overBytes, Action<WebSocketServerOptions>? configure = null, bool attach = true, TimeProvider? clock = null)
    {
        var scene = new SessionScene(overBytes, configure, clock);
        var opened = new SessionOpened(Key, SessionState.Active, scene.Session, TimeProvider.System.GetUtcNow()) { Pass = LinkScene.PassOf(Key) };
        await scene.Parts.Events.OpenedAsync(opened, CancellationToken.None);
        scene.Link = (await scene.Hub.NextOpenedAsync()).Link;
        if (attach)
        {
            scene.Session.Attach(scene.Transport);
        }

        return scene;
    }

    public Task<bool> SendAsync(string id, EventClass @class = EventClass.Message) => SendAsync(Events.Make(id, @class));

    /// <summary>False = refused, at once or afterwards.</summary>
    public Task<bool> SendAsync(Event accepted) => TakenAsync(accepted.Id, () => Link.TrySend(Id, accepted));

    public Task<bool> ReplayAsync(Event accepted) => TakenAsync(accepted.Id, () => Link.TryReplay(Id, accepted));

    public Task<bool> WithdrawAsync(string id, string reason = "answered") => TakenAsync(id, () => Link.TryWithdraw(Id, Events.Withdraw(id, reason)));

    /// <summary>Waits until everything said has been heard.</summary>
    public Task FlushAsync() => _bytes?.FlushAsync() ?? Task.CompletedTask;

    /// <summary>Writes everything that waits to the present connection: (seq, event id).</summary>
    public List<(long Seq, string Id)> Drain(DateTimeOffset? now = null) => Transport.Drain(Session, now);

    /// <summary>The connection breaks.</summary>
    public Task LoseAsync(SessionClose? reason = null)
    {
        Session.Leave(Transport, reason ?? SessionEnds.Lost);
        return FlushAsync();
    }

    /// <summary>A new connection asks for the session; null = it must open a new one.</summary>
    public async Task<long?> ResumeAsync(long seq, SessionState state = SessionState.Active, ClientIdentity? identity = null)
    {
        var next = new FakeTransport();
        var confirmed = await Session.TryResumeAsync(next, ConnectionPeer.Unknown, seq, state, identity ?? Ada, CancellationToken.None);
        if (confirmed is not null)
        {
            Transport = next;
            Session.Attach(next);
        }

        await FlushAsync();
        return confirmed;
    }

    public async ValueTask DisposeAsync()
    {
        Session.End(SessionClose.Drain);
        Session.Report();
        await FlushAsync();
        for (var from = TimeProvider.System.GetTimestamp(); Hub.ClosedCount == 0 && TimeProvider.System.GetElapsedTime(from) < SocketHost.Patience;)
        {
            await Task.Delay(1); // the end may be said by a thread of the pool, or wait behind the hub's answer to a resume
        }

        Assert.Empty(Hub.Faults);
        Assert.Equal(1, Hub.ClosedCount);
        Assert.Equal(0, Parts.Sessions.Count);
        Assert.Equal(0, Parts.Sessions.Lingering);
        if (_bytes is not null)
        {
            await _bytes.DisposeAsync();
        }
    }

    // Counted before it is sent: over bytes the refusal may be back before the call is.
    private async Task<bool> TakenAsync(string id, Func<bool> send)
    {
        var before = Hub.RefusedIds.GetValueOrDefault(id);
        var taken = send();
        await FlushAsync();
        return taken && Hub.RefusedIds.GetValueOrDefault(id) == before;
    }
}
