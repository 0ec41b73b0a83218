namespace Pnh.Channels.Provider.Connections;

/// <summary>The watch on connections: progress, age, idleness.</summary>
internal sealed partial class ConnectionPool
{
    /// <summary>How often the watch looks: stalls are counted in many seconds, lifetimes in minutes.</summary>
    private static readonly TimeSpan TickPeriod = TimeSpan.FromSeconds(1);

    /// <summary>As long as a request may be waited for past its time; what is still under way then is given up with its connection.</summary>
    private static readonly TimeSpan LongestDrain = LateRequests.Longest;

    private readonly ITimer _timer;

    private void Tick()
    {
        List<PooledConnection>? ended = null;
        lock (_lock)
        {
            var now = _time.GetTimestamp();
            for (var i = _connections.Count - 1; i >= 0; i--)
            {
                if (EndOf(_connections[i], now) is { } end && End(_connections[i], end) is { } gone)
                {
                    (ended ??= []).Add(gone);
                }
            }

            Grow();
            Renew(now);
            if (_connections.Count == 0 && _waiters.Count == 0)
            {
                _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            }
        }

        ended?.ForEach(Close);
    }

    private ConnectionEnd? EndOf(PooledConnection connection, long now)
    {
        if (connection.DrainingSince is { } draining)
        {
            return _time.GetElapsedTime(draining, now) > LongestDrain ? ConnectionEnd.Retired : null;
        }

        return connection.SilentSince is { } silent && _time.GetElapsedTime(silent, now) > _options.StallAfter ? ConnectionEnd.Stalled
            : connection.InFlight == 0 && _time.GetElapsedTime(connection.IdleSince, now) > _options.IdleTimeout ? ConnectionEnd.Idle
            : null;
    }

    /// <summary>Takes nothing more. One that stalls is replaced and drains, since a late answer says that a push was shown; any other end is at once.</summary>
    private PooledConnection? End(PooledConnection connection, ConnectionEnd end)
    {
        if (end == ConnectionEnd.Stalled)
        {
            Log.Stalled(_logger, _options.Origin.Host, connection.Number, connection.InFlight);
            return Drain(connection, end);
        }

        if (!connection.IsDraining)
        {
            _gauges.Ended(end);
        }

        return Remove(connection);
    }

    /// <summary>A connection past its lifetime goes on until its successor is open, so that no request waits for a handshake.</summary>
    private void Renew(long now)
    {
        if (!_isDialling && _connections.Exists(connection => IsOld(connection, now)) && _dials.TryTake())
        {
            _isDialling = true;
            _ = _dialler.DialAsync(_stopping.Token);
        }
    }

    private bool IsOld(PooledConnection connection, long now) => !connection.IsDraining && _time.GetElapsedTime(connection.OpenedAt, now) > connection.Lifetime;
}
