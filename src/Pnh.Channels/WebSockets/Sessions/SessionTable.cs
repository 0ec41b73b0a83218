using System.Collections.Concurrent;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// The sessions that a <c>resume</c> can find: those with a connection, and those that lost it and linger. Lingering ones stand in the order
/// in which they lost it, which is the order in which they end, so finding the overdue costs nothing while there are none. Bounded by
/// number and bytes, and by one per device. Thread-safe; never calls a session.
/// </summary>
internal sealed class SessionTable
{
    private readonly ConcurrentDictionary<string, Session> _byId = new(StringComparer.Ordinal);
    private readonly Lock _gate = new();
    private readonly LinkedList<Lingerer> _lingerers = new();
    private readonly Dictionary<SessionKey, LinkedListNode<Lingerer>> _byDevice = [];
    private readonly WebSocketServerOptions _options;
    private readonly TimeProvider _clock;
    private long _bytes;
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
            _byDevice[DeviceOf(session)] = place;
            _bytes += bytes;
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
            _bytes -= place.Value.Bytes;
            if (_byDevice.TryGetValue(DeviceOf(session), out var known) && ReferenceEquals(known, place))
            {
                _byDevice.Remove(DeviceOf(session));
            }
        }
    }

    /// <summary>The session of this device that lingers; null = none.</summary>
    public Session? LingeringOf(SessionKey device)
    {
        lock (_gate)
        {
            return _byDevice.TryGetValue(device with { Session = "" }, out var place) ? place.Value.Session : null;
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

            var isOverdue = _stopped || _lingerers.Count > _options.MaxConnections || _bytes > _options.LingerBytes
                || _clock.GetElapsedTime(first.Value.Since) >= _options.Linger;
            return isOverdue ? first.Value.Session : null;
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

    private static SessionKey DeviceOf(Session session) => session.Key with { Session = "" };

    /// <summary>A session without a connection.</summary>
    /// <param name="Session">Which.</param>
    /// <param name="Bytes">Of its frames.</param>
    /// <param name="Since">Timestamp.</param>
    internal sealed record Lingerer(Session Session, int Bytes, long Since);
}
