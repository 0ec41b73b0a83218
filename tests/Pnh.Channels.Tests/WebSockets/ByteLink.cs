using System.Collections.Concurrent;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>
/// Sockets and hub as if they lived on two nodes: both ends of a link with nothing but bytes between them, which arrive in pieces of any length, carried by a thread a direction.
/// Every third item comes behind an event for many sessions, so that the edge cannot do it at once.
/// </summary>
internal sealed class ByteLink : IAsyncDisposable
{
    /// <summary>Not on a real link: says that everything before it was heard.</summary>
    private const LinkItemKind Fence = (LinkItemKind)255;

    private static readonly LinkWriter ForMany = WriteForMany();
    private readonly ConcurrentDictionary<string, TaskCompletionSource> _fences = new();
    private readonly HubLink _hubEnd;
    private readonly EdgeLink _edgeEnd = new(new Turns(TimeProvider.System), TimeProvider.System);
    private readonly LinkQueue _edgeOutput = new() { Version = LinkHello.Version };
    private readonly Task _toHub;
    private readonly Task _toEdge;
    private int _items;
    private int _sent;
    private int _heard;

    public ByteLink(ISessionEvents hub, IClientAuthenticator tokens)
    {
        _hubEnd = new HubLink(new WatchedHub(this, hub), new SessionPasses(new byte[SessionPasses.KeyBytes], tokens, TimeProvider.System), TimeProvider.System, NullLogger.Instance);
        _hubEnd.Output.Version = LinkHello.Version;
        Edge = new EdgeSessions([_edgeEnd], TimeProvider.System);
        _edgeEnd.Connect(_edgeOutput);
        _toHub = Task.Run(() => PumpAsync(_edgeOutput, TakeAtHubAsync));
        _toEdge = Task.Run(() => PumpAsync(_hubEnd.Output, TakeAtEdgeAsync));
    }

    /// <summary>What the sockets take for the hub.</summary>
    public ISessionEvents Edge { get; }

    /// <summary>Runs when the hub has heard that an event was refused, and before the edge hears that the hub has.</summary>
    public Action<string>? RefusalHeard { get; set; }

    /// <summary>Runs before an event is sent, under the shard's lock.</summary>
    public Action<string>? Sending { get; set; }

    /// <summary>Events that the hub has sent.</summary>
    public int Sent => Volatile.Read(ref _sent);

    /// <summary>Refusals of which the edge was told that the hub has heard them.</summary>
    public int Heard => Volatile.Read(ref _heard);

    /// <summary>Completes when everything said before has been heard, and what came back at once as well.</summary>
    public async Task FlushAsync()
    {
        var fence = Guid.NewGuid().ToString();
        var passed = _fences[fence] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Write(_hubEnd.Output, fence);
        await await Task.WhenAny(passed.Task, _toHub, _toEdge).WaitAsync(SocketHost.Patience);
    }

    public async ValueTask DisposeAsync()
    {
        _edgeOutput.End();
        _hubEnd.Output.End();
        await Task.WhenAll(_toHub, _toEdge);
    }

    // As off a socket: an item may come in pieces, and a piece may hold several.
    private static async Task PumpAsync(LinkQueue queue, Func<LinkItemKind, ReadOnlyMemory<byte>, Task> take)
    {
        var random = new Random(7);
        var input = new LinkInput();
        while (await queue.TakeAsync() is { IsEmpty: false } batch)
        {
            while (!batch.IsEmpty)
            {
                var free = input.Free;
                var piece = batch[..Math.Min(Math.Min(batch.Length, free.Length), random.Next(1, 40_000))];
                piece.CopyTo(free);
                input.Advance(piece.Length);
                batch = batch[piece.Length..];
                while (input.TryTake(out var kind, out var members))
                {
                    await take(kind, members);
                }
            }
        }
    }

    private static void Write(LinkQueue queue, string fence)
    {
        using var item = queue.Begin(Fence);
        item.Members.Text(fence);
    }

    // For sessions that no edge has.
    private static LinkWriter WriteForMany()
    {
        var writer = new LinkWriter();
        writer.Begin(LinkItemKind.Frame).Event(Events.Make("for-many"), TimeProvider.System, LinkHello.Version).Numbers([.. Enumerable.Range(0, 2 * EdgeBacklog.Step).Select(static n => 1_000_000L + n)]).End();
        return writer;
    }

    private Task TakeAtHubAsync(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        if (kind == Fence)
        {
            _fences[new LinkReader(members.Span).Text()].SetResult();
        }
        else
        {
            _hubEnd.Receive(kind, members);
        }

        return Task.CompletedTask;
    }

    private async Task TakeAtEdgeAsync(LinkItemKind kind, ReadOnlyMemory<byte> members)
    {
        if (kind == Fence)
        {
            Assert.Null(await _edgeEnd.SettleAsync());
            Write(_edgeOutput, new LinkReader(members.Span).Text());
            return;
        }

        if (kind == LinkItemKind.GoOn)
        {
            Interlocked.Increment(ref _heard);
        }

        if (++_items % 3 == 0)
        {
            var batch = ForMany.Written;
            Assert.True(LinkReader.TryTake(ref batch, out var many, out var handles));
            _edgeEnd.Receive(many, handles);
        }

        _edgeEnd.Receive(kind, members);
    }

    /// <summary>The hub, with a test that may step in between.</summary>
    private sealed class WatchedHub(ByteLink link, ISessionEvents hub) : ISessionEvents
    {
        public ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken) =>
            hub.OpenedAsync(opened with { Link = new WatchedWay(link, opened.Link) }, cancellationToken);

        public void Detached(SessionKey session) => hub.Detached(session);

        public ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken) => hub.ResumedAsync(session, state, connectedAt, cancellationToken);

        public void Closed(SessionKey session) => hub.Closed(session);

        public ValueTask<bool> ReopenedAsync(SessionReopened reopened, CancellationToken cancellationToken) => hub.ReopenedAsync(reopened, cancellationToken);

        public void StateChanged(SessionKey session, SessionState state) => hub.StateChanged(session, state);

        public void Acked(SessionKey session, string eventId) => hub.Acked(session, eventId);

        public void HasRoom(SessionKey session) => hub.HasRoom(session);

        public void Refused(SessionKey session, string eventId)
        {
            hub.Refused(session, eventId);
            link.RefusalHeard?.Invoke(eventId);
        }

        public ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer) => hub.AnsweredAsync(session, eventId, reason, answer);

        public void Answered(SessionKey session, string eventId, string reason, string? answer) => hub.Answered(session, eventId, reason, answer);

        public void Joined(SessionKey session, IReadOnlyList<string> topics) => hub.Joined(session, topics);

        public void Left(SessionKey session, IReadOnlyList<string> topics) => hub.Left(session, topics);

        public ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken) =>
            hub.SendAsync(session, identity, message, cancellationToken);
    }

    private sealed class WatchedWay(ByteLink link, ISessionLink way) : ISessionLink
    {
        public bool TrySend(string session, Event accepted) => Count(accepted, () => way.TrySend(session, accepted));

        public bool TryReplay(string session, Event accepted) => Count(accepted, () => way.TryReplay(session, accepted));

        public bool TryWithdraw(string session, Withdrawal withdrawal) => way.TryWithdraw(session, withdrawal);

        public bool TryTellMissed(string session, MissedEvents missed) => way.TryTellMissed(session, missed);

        public void Close(string session, SessionClose reason) => way.Close(session, reason);

        private bool Count(Event accepted, Func<bool> send)
        {
            link.Sending?.Invoke(accepted.Id);
            var isSent = send();
            Interlocked.Increment(ref link._sent);
            return isSent;
        }
    }
}
