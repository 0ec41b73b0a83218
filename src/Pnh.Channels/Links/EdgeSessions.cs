using System.Collections.Concurrent;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>What the sockets of an edge take for the hub: each session's calls go to the link that carries it. Thread-safe; never waits but for an answer.</summary>
internal sealed class EdgeSessions : ISessionEvents
{
    private readonly ConcurrentDictionary<string, EdgeSession> _sessions = new(StringComparer.Ordinal);
    private readonly TimeProvider _time;
    private EdgeLink? _current;
    private long _unlinkedSince = -1;

    public EdgeSessions(TimeProvider time) => _time = time;

    /// <summary>True while sessions can open.</summary>
    public bool IsLinked => Volatile.Read(ref _current) is not null;

    /// <summary>Time-stamp of the end of the last link; 0 = there is one; null = there was none yet.</summary>
    public long? UnlinkedSince => IsLinked ? 0 : Volatile.Read(ref _unlinkedSince) is >= 0 and var since ? since : null;

    /// <summary>Sessions that open from now on are carried by this link.</summary>
    public void Take(EdgeLink link) => Volatile.Write(ref _current, link);

    /// <summary>The link is no more.</summary>
    public void Leave(EdgeLink link)
    {
        if (ReferenceEquals(Volatile.Read(ref _current), link))
        {
            Volatile.Write(ref _unlinkedSince, _time.GetTimestamp());
            Volatile.Write(ref _current, null);
        }
    }

    /// <inheritdoc/>
    public async ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        var link = Volatile.Read(ref _current) ?? throw new InvalidOperationException("The edge has no link to a hub.");
        var session = _sessions[opened.Key.Session] = link.Add(opened);
        var age = _time.GetUtcNow() - opened.ConnectedAt;
        var answer = await link.AskAsync(session, LinkItemKind.Opened, members => members.Key(opened.Key).State(opened.State).Age(age), cancellationToken);
        if (!answer.Yes)
        {
            Remove(session); // nothing happened at the hub, and no end of it will be reported
        }

        return answer.Yes;
    }

    /// <inheritdoc/>
    public async ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, CancellationToken cancellationToken)
    {
        if (Find(session) is not { } known)
        {
            return false;
        }

        var answer = await known.Link.AskAsync(known, LinkItemKind.Resumed, members => members.State(state), cancellationToken);
        return answer.Yes;
    }

    /// <inheritdoc/>
    public async ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        var known = Find(session) ?? throw new InvalidOperationException("The session has ended.");
        var answer = await known.Link.AskAsync(known, LinkItemKind.Publish, members => members.Identity(identity).Bytes(message.Span), cancellationToken);
        return answer.SendRefusal;
    }

    /// <inheritdoc/>
    public void Detached(SessionKey session) => Find(session)?.Tell(LinkItemKind.Detached);

    /// <inheritdoc/>
    public void Closed(SessionKey session)
    {
        if (Find(session) is { } known)
        {
            Remove(known);
            known.Tell(LinkItemKind.Closed);
        }
    }

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state)
    {
        if (Find(session) is { } known)
        {
            using var item = known.Begin(LinkItemKind.StateChanged);
            item.Members.State(state);
        }
    }

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => Find(session)?.Acked(eventId);

    /// <inheritdoc/>
    public void HasRoom(SessionKey session) => Find(session)?.HasRoom();

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId) => Find(session)?.Refuse(eventId, 0);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer)
    {
        if (Find(session) is { } known)
        {
            using var item = known.Begin(LinkItemKind.Answered);
            item.Members.Text(eventId).Text(reason).OptionalText(answer);
        }
    }

    /// <inheritdoc/>
    public void Joined(SessionKey session, IReadOnlyList<string> topics) => Tell(LinkItemKind.Joined, session, topics);

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics) => Tell(LinkItemKind.Left, session, topics);

    private void Tell(LinkItemKind kind, SessionKey session, IReadOnlyList<string> topics)
    {
        if (Find(session) is { } known)
        {
            using var item = known.Begin(kind);
            item.Members.Texts(topics);
        }
    }

    private EdgeSession? Find(SessionKey session) => _sessions.GetValueOrDefault(session.Session);

    private void Remove(EdgeSession session)
    {
        _sessions.TryRemove(session.Key.Session, out _);
        session.Link.Remove(session);
    }
}
