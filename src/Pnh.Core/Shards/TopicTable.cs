using System.Collections.Concurrent;
using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>
/// Which sessions joined which topic, both ways: a topic's sessions for its events, a session's topics so that its end costs only those, however
/// many topics there are. Thread-safe.
/// </summary>
internal sealed class TopicTable
{
    private static readonly SessionKey[] Nobody = [];
    private readonly ConcurrentDictionary<(string App, string Topic), Members> _topics = new();
    private readonly ConcurrentDictionary<string, HashSet<string>> _sessions = new(StringComparer.Ordinal);

    /// <summary>Topics that somebody is in.</summary>
    internal int Count => _topics.Count;

    internal void Join(SessionKey session, IReadOnlyList<string> topics)
    {
        var own = _sessions.GetOrAdd(session.Session, static _ => new HashSet<string>(StringComparer.Ordinal));
        lock (own)
        {
            if (!_sessions.TryGetValue(session.Session, out var current) || !ReferenceEquals(current, own))
            {
                return; // its end came in between: nobody would take it off the topics again
            }

            foreach (var topic in topics)
            {
                if (own.Add(topic))
                {
                    Add((session.App, topic), session);
                }
            }
        }
    }

    internal void Leave(SessionKey session, IReadOnlyList<string> topics)
    {
        if (!_sessions.TryGetValue(session.Session, out var own))
        {
            return;
        }

        lock (own)
        {
            foreach (var topic in topics)
            {
                if (own.Remove(topic))
                {
                    Remove((session.App, topic), session);
                }
            }
        }
    }

    /// <summary>Out of all its topics: its own only are touched.</summary>
    internal void Remove(SessionKey session)
    {
        if (!_sessions.TryRemove(session.Session, out var own))
        {
            return;
        }

        lock (own)
        {
            foreach (var topic in own)
            {
                Remove((session.App, topic), session);
            }

            own.Clear();
        }
    }

    /// <summary>The sessions in a topic now; the array is shared and does not change.</summary>
    internal SessionKey[] Find(string app, string topic) =>
        _topics.TryGetValue((app, topic), out var members) ? members.Read() : Nobody;

    private void Add((string App, string Topic) topic, SessionKey session)
    {
        while (!_topics.GetOrAdd(topic, static _ => new Members()).TryAdd(session))
        {
            // Its last member left in between and took it off the table.
        }
    }

    private void Remove((string App, string Topic) topic, SessionKey session)
    {
        if (_topics.TryGetValue(topic, out var members) && members.Remove(session))
        {
            _topics.TryRemove(new KeyValuePair<(string App, string Topic), Members>(topic, members));
        }
    }

    private sealed class Members
    {
        private readonly HashSet<SessionKey> _sessions = [];
        private SessionKey[]? _read;
        private bool _isGone;

        internal bool TryAdd(SessionKey session)
        {
            lock (_sessions)
            {
                if (!_isGone)
                {
                    _sessions.Add(session);
                    _read = null;
                }

                return !_isGone;
            }
        }

        /// <summary>True when that was the last: the topic is gone.</summary>
        internal bool Remove(SessionKey session)
        {
            lock (_sessions)
            {
                _sessions.Remove(session);
                _read = null;
                return _isGone = _sessions.Count == 0;
            }
        }

        internal SessionKey[] Read()
        {
            lock (_sessions)
            {
                return _read ??= [.. _sessions];
            }
        }
    }
}
