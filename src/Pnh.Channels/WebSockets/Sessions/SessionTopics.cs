using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// The topics of a session, which a resume keeps; made at the first join, since most sessions are in none. The hub has its own list: both change
/// together. Thread-safe under its own lock. A new connection carries the session before it leaves what its token forbids: so a join of the old
/// connection comes before that and is left again, or it comes later and is refused.
/// </summary>
/// <param name="session">Which.</param>
/// <param name="parts">What sessions share.</param>
internal sealed class SessionTopics(Session session, SessionParts parts)
{
    private readonly HashSet<string> _topics = new(StringComparer.Ordinal);

    /// <summary>The topics that the session is in now.</summary>
    public IReadOnlyList<string> All
    {
        get
        {
            lock (_topics)
            {
                return [.. _topics];
            }
        }
    }

    /// <summary>Joins those that it may be in, and tells the hub of the new ones. Null = the session has another connection now, whose token may allow less: nothing was joined.</summary>
    /// <param name="topics">Which.</param>
    /// <param name="identity">Whose token has to allow them.</param>
    /// <param name="asker">The connection that the client asks on.</param>
    /// <param name="allOrNone">True = when one is refused, none is joined.</param>
    public JoinAnswer? Join(IReadOnlyList<string> topics, ClientIdentity identity, ISessionTransport asker, bool allOrNone)
    {
        var byToken = topics.Distinct(StringComparer.Ordinal).ToLookup(identity.MayJoin);
        string[] notAllowed = [.. byToken[false]];
        if (allOrNone && notAllowed.Length > 0)
        {
            return new JoinAnswer([], notAllowed, []);
        }

        string[] added;
        string[] tooMany;
        lock (_topics)
        {
            if (!session.IsCarriedBy(asker))
            {
                return null;
            }

            string[] wanted = [.. byToken[true].Where(topic => !_topics.Contains(topic))];
            var places = parts.Options.MaxTopics - _topics.Count;
            tooMany = wanted.Length > places ? wanted[(allOrNone ? 0 : places)..] : [];
            added = wanted[..^tooMany.Length];
            _topics.UnionWith(added);
        }

        if (added.Length > 0)
        {
            parts.Events.Joined(session.Key, added);
            LeaveAgain([.. added]);
        }

        return new JoinAnswer([.. byToken[true].Except(tooMany, StringComparer.Ordinal)], notAllowed, tooMany);
    }

    /// <summary>Those that it had at the node that gave it away. Before its hub knows the session.</summary>
    public void Take(IReadOnlyList<string> topics)
    {
        lock (_topics)
        {
            _topics.UnionWith(topics);
        }
    }

    /// <summary>Leaves those that it is in, and tells the hub of them.</summary>
    public void Leave(IReadOnlyList<string> topics)
    {
        string[] left;
        lock (_topics)
        {
            left = [.. topics.Where(_topics.Remove)];
        }

        if (left.Length > 0)
        {
            parts.Events.Left(session.Key, left);
        }
    }

    /// <summary>Leaves what this token does not allow: a resume may come with one that allows less than the one before.</summary>
    public void LeaveForbidden(ClientIdentity identity) => Leave([.. All.Where(topic => !identity.MayJoin(topic))]);

    // A resume that came between the two may have left them again, and the hub heard of that first.
    private void LeaveAgain(List<string> joined)
    {
        lock (_topics)
        {
            joined.RemoveAll(_topics.Contains);
        }

        if (joined.Count > 0)
        {
            parts.Events.Left(session.Key, joined);
        }
    }
}
