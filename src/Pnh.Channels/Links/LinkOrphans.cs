using System.Collections.Concurrent;
using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>
/// Sessions of connections that broke. To the hub they have lost their clients for now: the edge says them again on its next connection, and then their clients have noticed nothing. What it does not say
/// again has ended. Thread-safe.
/// </summary>
internal sealed class LinkOrphans(TimeProvider time, TimeSpan linger)
{
    private readonly ConcurrentDictionary<SessionKey, (LinkedEdge Linked, HubSession Session)> _sessions = new();

    /// <summary>The connection is no more.</summary>
    public void Leave(LinkedEdge linked)
    {
        foreach (var session in linked.Link.End())
        {
            _sessions[session.Key] = (linked, session);
        }

        _ = Task.Delay(linger, time).ContinueWith(_ => End(linked), CancellationToken.None, TaskContinuationOptions.None, TaskScheduler.Default);
    }

    /// <summary>The session was said again. Returns the connection that had it; null = it is not one of these.</summary>
    public HubLink? Take(SessionKey session) => _sessions.TryRemove(session, out var orphan) ? orphan.Linked.Link : null;

    /// <summary>The edge has said all sessions of this link: those of older connections of it that it did not say have ended.</summary>
    public void EndOlder(LinkedEdge linked)
    {
        foreach (var other in _sessions.Values.Select(static orphan => orphan.Linked).Distinct().Where(other => other.Edge is not null && other.Name == linked.Name))
        {
            End(other);
        }
    }

    private void End(LinkedEdge linked)
    {
        foreach (var (key, orphan) in _sessions)
        {
            if (ReferenceEquals(orphan.Linked, linked) && _sessions.TryRemove(new(key, orphan)))
            {
                orphan.Session.Receive(LinkItemKind.Closed, default);
            }
        }
    }
}
