using System.Collections.Concurrent;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>What the sockets of an edge take for the hub: each session's calls go to the link that carries it. Thread-safe; waits for an answer, and a while for a link, and for nothing else.</summary>
internal sealed class EdgeSessions : ISessionEvents
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);
    private readonly ConcurrentDictionary<string, EdgeSession> _sessions = new(StringComparer.Ordinal);
    private readonly IReadOnlyList<EdgeLink> _links;
    private readonly TimeProvider _time;
    private readonly HashSet<string> _said = ["start"];
    private long _lastHandle;

    /// <param name="links">The edge's links to its hub, at least one. A session belongs to one of them.</param>
    /// <param name="time">Clock.</param>
    public EdgeSessions(IReadOnlyList<EdgeLink> links, TimeProvider time)
    {
        _links = links;
        _time = time;
        foreach (var link in links)
        {
            link.GivenAway = Remove;
        }
    }

    /// <summary>Id of the data of the hub that the edge was linked to; empty = of none yet. It is linked to no other.</summary>
    public string Cluster { get; set; } = "";

    /// <summary>The links.</summary>
    public IReadOnlyList<EdgeLink> Links => _links;

    /// <summary>True while sessions can open.</summary>
    public bool IsLinked => _links.Any(static link => link.IsReady);

    /// <summary>Time-stamp of the moment since when there is no link; 0 = there is one; null = there was none yet.</summary>
    public long? UnlinkedSince => IsLinked ? 0 : _links.Max(static link => link.BrokenSince);

    /// <summary>Why the hub did not link this edge when it answered last; null = it did.</summary>
    public string? Refusal { get; set; }

    /// <summary>True for the first link that fails for this reason since there was one: the log says it once, however many links the edge has.</summary>
    public bool IsNews(string fault)
    {
        lock (_said)
        {
            return _said.Add(fault);
        }
    }

    /// <summary>True for the first link since the start, or since one failed.</summary>
    public bool IsBack()
    {
        lock (_said)
        {
            var isBack = _said.Count > 0;
            _said.Clear();
            return isBack;
        }
    }

    /// <inheritdoc/>
    public async ValueTask<SessionPass> AdmitAsync(SessionKey session, ClientCredential client, CancellationToken cancellationToken)
    {
        var link = LinkOf(session);
        await UntilReadyAsync(link, cancellationToken);
        var isShown = !link.IsPlain;
        var answer = await link.AskAsync(LinkItemKind.Admit, members =>
        {
            members.Key(session).OptionalText(isShown ? client.Token : null);
            if (!isShown)
            {
                members.Texts(client.Identity.Topics).Time(client.Identity.ExpiresAt);
            }
        }).WaitAsync(cancellationToken);
        if (Find(session) is { } known && answer is { HasFailed: false, Pass.Refusal: null })
        {
            known.Pass = answer.Pass.Proof;
        }

        return answer.HasFailed ? throw new InvalidOperationException("The hub failed, or its link broke.") : answer.Pass;
    }

    /// <inheritdoc/>
    public async ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken)
    {
        var link = LinkOf(opened.Key);
        await UntilReadyAsync(link, cancellationToken);
        var session = _sessions[opened.Key.Session] = link.Add(opened, Interlocked.Increment(ref _lastHandle));
        var age = _time.GetUtcNow() - opened.ConnectedAt;
        var answer = await link.AskAsync(session, LinkItemKind.Opened, members => members.Key(opened.Key).Bytes(opened.Pass.Span).State(opened.State).Age(age), cancellationToken);
        if (answer.Yes)
        {
            session.Opened();
        }
        else
        {
            Remove(session); // nothing happened at the hub, and no end of it will be reported
        }

        return answer.Yes;
    }

    /// <inheritdoc/>
    public async ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken)
    {
        if (Find(session) is not { } known)
        {
            return false;
        }

        await UntilReadyAsync(known.Link, cancellationToken);
        var since = connectedAt ?? _time.GetUtcNow();
        known.Resume(since);
        var answer = await known.Link.AskAsync(known, LinkItemKind.Resumed, members => members.State(state).Age(_time.GetUtcNow() - since).Bytes(known.Pass.Span), cancellationToken);
        return answer.Yes;
    }

    /// <inheritdoc/>
    public async ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken)
    {
        var known = Find(session) ?? throw new InvalidOperationException("The session has ended.");
        await UntilReadyAsync(known.Link, cancellationToken);
        var answer = await known.Link.AskAsync(known, LinkItemKind.Publish, members => members.Bytes(message.Span), cancellationToken);
        return answer.SendRefusal;
    }

    /// <inheritdoc/>
    public async ValueTask<IReadOnlyList<string>?> ClaimAsync(SessionKey session, long seq, DateTimeOffset? connectedAt, ReadOnlyMemory<byte> pass = default)
    {
        var link = LinkOf(session);
        await UntilReadyAsync(link, CancellationToken.None);
        var age = _time.GetUtcNow() - (connectedAt ?? _time.GetUtcNow());
        var answer = await link.AskAsync(LinkItemKind.Claim, members => members.Key(session).Bytes(pass.Span).Number(seq).Age(age));
        return answer.Topics;
    }

    /// <summary>A session that another node gave away: from now on it is this edge's. What the hub makes of it comes back as a close.</summary>
    public ValueTask<bool> ReopenedAsync(SessionReopened reopened, CancellationToken cancellationToken)
    {
        var link = LinkOf(reopened.Opened.Key);
        var session = _sessions[reopened.Opened.Key.Session] = link.Add(reopened.Opened, Interlocked.Increment(ref _lastHandle));
        session.TakeOver();
        return ValueTask.FromResult(true);
    }

    /// <inheritdoc/>
    public void Detached(SessionKey session) => Find(session)?.Detach();

    /// <inheritdoc/>
    public void Closed(SessionKey session)
    {
        if (Find(session) is { } known)
        {
            Remove(known);
            known.Say(LinkItemKind.Closed);
        }
    }

    /// <inheritdoc/>
    public void StateChanged(SessionKey session, SessionState state) => Find(session)?.Say(LinkItemKind.StateChanged, members => members.State(state));

    /// <inheritdoc/>
    public void Acked(SessionKey session, string eventId) => Find(session)?.Report(new(eventId, null, null));

    /// <inheritdoc/>
    public void HasRoom(SessionKey session) => Find(session)?.HasRoom();

    /// <inheritdoc/>
    public void Refused(SessionKey session, string eventId) => Find(session)?.Refuse(eventId, 0);

    /// <inheritdoc/>
    public void Answered(SessionKey session, string eventId, string reason, string? answer) => Find(session)?.Report(new(eventId, reason, answer));

    /// <inheritdoc/>
    public void Joined(SessionKey session, IReadOnlyList<string> topics) => Find(session)?.Say(LinkItemKind.Joined, members => members.Texts(topics));

    /// <inheritdoc/>
    public void Left(SessionKey session, IReadOnlyList<string> topics) => Find(session)?.Say(LinkItemKind.Left, members => members.Texts(topics));

    // A hub that is started again is there within seconds: its clients need not notice.
    private static async Task UntilReadyAsync(EdgeLink link, CancellationToken cancellationToken)
    {
        try
        {
            await link.UntilReadyAsync(Patience, cancellationToken);
        }
        catch (TimeoutException fault)
        {
            throw new InvalidOperationException("The edge has no link to its hub.", fault);
        }
    }

    private EdgeLink LinkOf(SessionKey session) => _links[(int)((uint)session.Session.GetHashCode(StringComparison.Ordinal) % (uint)_links.Count)];

    private EdgeSession? Find(SessionKey session) => _sessions.GetValueOrDefault(session.Session);

    private void Remove(EdgeSession session)
    {
        _sessions.TryRemove(session.Key.Session, out _);
        session.Link.Remove(session);
    }
}
