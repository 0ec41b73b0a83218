using System.Collections.Concurrent;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// The sessions that a <c>resume</c> can find: those with a connection, and those that lost it and linger. Lingering ones stand in the order
/// in which they lost it, which is the order in which they end, so finding the overdue costs nothing while there are none. Bounded by
/// number and bytes; that a device has one at most is the hub's, which closes its older session. Thread-safe; never calls a session.
/// </summary>
internal sealed class SessionTable
{
    private readonly ConcurrentDictionary<string, Session> _byId = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();
    private readonly LinkedList<Lingerer> _lingerers = new();
    private readonly WebSocketServerOptions _options;
    private readonly TimeProvider _clock;
    private long _bytes;
    private volatile bool _isFull;
    private bool _stopped;

    public SessionTable(WebSocketServerOptions options, TimeProvider clock)
    {
        _options = options;
        _clock = clock;
    }

    /// <summary>All sessions in it.</summary>
    public int Count => _byId.Count;

    /// <summary>Those without a connection.</summary>
    public int Lingering
    {
        get
        {
            lock (_gate)
            {
                return _lingerers.Count;
            }
        }
    }

    /// <summary>More linger than may: the oldest are <see cref="Overdue"/>, whatever the time.</summary>
    public bool IsFull => _isFull;

    /// <summary>Makes the session known.</summary>
    public void Add(Session session) => _byId[session.Key.Session] = session;

    /// <summary>The session with this id if it is this device's; null also for anybody else's, so that a stranger learns nothing.</summary>
    public Session? Find(string id, string app, string user, string device) =>
        _byId.TryGetValue(id, out var found) && found.Key == new SessionKey(app, user, device, id) ? found : null;

    /// <summary>Forgets a session that ended.</summary>
    public void Remove(Session session)
    {
        _byId.TryRemove(session.Key.Session, out _);
        Return(session);
    }

    /// <summary>Lets the session wait for its client, with so many bytes of frames; false when nothing lingers (any more).</summary>
    public bool TryLinger(Session session, int bytes)
    {
        lock (_gate)
        {
            if (_stopped || _options.Linger == TimeSpan.Zero)
            {
                return false;
            }

            var place = _lingerers.AddLast(new Lingerer(session, bytes, _clock.GetTimestamp()));
            session.Lingering = place;
            Weigh(bytes);
            return true;
        }
    }

    /// <summary>The session does not wait any more.</summary>
    public void Return(Session session)
    {
        lock (_gate)
        {
            if (session.Lingering is not { } place)
            {
                return;
            }

            session.Lingering = null;
            _lingerers.Remove(place);
            Weigh(-place.Value.Bytes);
        }
    }

    /// <summary>The oldest lingering session if it must end now, by time, bound or stop; null = none. It stays until it is ended.</summary>
    public Session? Overdue()
    {
        lock (_gate)
        {
            if (_lingerers.First is not { } first)
            {
                return null;
            }

            return _stopped || _isFull || _clock.GetElapsedTime(first.Value.Since) >= _options.Linger ? first.Value.Session : null;
        }
    }

    /// <summary>From now on nothing lingers: all that do are overdue.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _stopped = true;
        }
    }

    // Under the gate, after the list.
    private void Weigh(int bytes)
    {
        _bytes += bytes;
        _isFull = _lingerers.Count > _options.MaxConnections || _bytes > _options.LingerBytes;
    }

    /// <summary>A session without a connection.</summary>
    /// <param name="Session">Which.</param>
    /// <param name="Bytes">Of its frames.</param>
    /// <param name="Since">Timestamp.</param>
    internal readonly record struct Lingerer(Session Session, int Bytes, long Since);
}
