using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>The topics of a session, which a resume keeps. The hub has its own list: both change together.</summary>
internal sealed partial class Session
{
    // Null until the first join: most sessions are in none.
    private HashSet<string>? _topics;

    /// <summary>Those that it is in now.</summary>
    public IReadOnlyList<string> Topics
    {
        get
        {
            lock (this)
            {
                return _topics is null ? [] : [.. _topics];
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
        lock (this)
        {
            if (!ReferenceEquals(asker, _transport))
            {
                return null;
            }

            string[] wanted = [.. byToken[true].Where(topic => _topics?.Contains(topic) != true)];
            var places = _parts.Options.MaxTopics - (_topics?.Count ?? 0);
            tooMany = wanted.Length > places ? wanted[(allOrNone ? 0 : places)..] : [];
            added = wanted[..^tooMany.Length];
            if (added.Length > 0)
            {
                _topics ??= new HashSet<string>(StringComparer.Ordinal);
                _topics.UnionWith(added);
            }
        }

        if (added.Length > 0)
        {
            _parts.Events.Joined(Key, added);
            LeaveAgain([.. added]);
        }

        return new JoinAnswer([.. byToken[true].Except(tooMany, StringComparer.Ordinal)], notAllowed, tooMany);
    }

    /// <summary>Those that it had at the node that gave it away, but for what the token of now does not allow. Before its hub knows it.</summary>
    public IReadOnlyList<string> TakeTopics(IReadOnlyList<string> topics, ClientIdentity identity)
    {
        string[] allowed = [.. topics.Where(identity.MayJoin)];
        _topics = allowed.Length == 0 ? null : new HashSet<string>(allowed, StringComparer.Ordinal);
        return allowed;
    }

    // A resume that came between the two may have left them again, and the hub heard of that first.
    private void LeaveAgain(List<string> joined)
    {
        lock (this)
        {
            joined.RemoveAll(topic => _topics!.Contains(topic));
        }

        if (joined.Count > 0)
        {
            _parts.Events.Left(Key, joined);
        }
    }

    /// <summary>Leaves those that it is in, and tells the hub of them.</summary>
    public void LeaveTopics(IReadOnlyList<string> topics)
    {
        var left = new List<string>(topics.Count);
        lock (this)
        {
            foreach (var topic in topics)
            {
                if (_topics?.Remove(topic) == true)
                {
                    left.Add(topic);
                }
            }
        }

        if (left.Count > 0)
        {
            _parts.Events.Left(Key, left);
        }
    }

    // A resume may come with a token that allows less than the one before.
    private void LeaveForbidden(ClientIdentity identity)
    {
        List<string>? forbidden = null;
        lock (this)
        {
            foreach (var topic in _topics ?? [])
            {
                if (!identity.MayJoin(topic))
                {
                    (forbidden ??= []).Add(topic);
                }
            }
        }

        if (forbidden is not null)
        {
            LeaveTopics(forbidden);
        }
    }
}
