using Pnh.Channels.Net.Http;

namespace Pnh.Channels.Provider.Connections;

/// <summary>How connections begin and end.</summary>
internal sealed partial class ConnectionPool
{
    /// <summary>A request waits for so long until the next dial, as a single cut must not cost a call its second; after more failures it fails at once.</summary>
    private static readonly TimeSpan ShortPause = TimeSpan.FromSeconds(1);

    /// <summary>The fault of a connection which ended before it had answered anything.</summary>
    private const string Lost = ProviderAnswer.ConnectionLost;

    /// <summary>The peer's SETTINGS.</summary>
    internal void StreamLimitOf(PooledConnection connection, long streams)
    {
        lock (_lock)
        {
            if (!connection.HasSettings)
            {
                connection.HasSettings = true;
                _gauges.Dialled(opened: true);
            }

            connection.Limit = (int)Math.Min(streams, _options.MaxInFlight);
            Release(connection);
        }
    }

    /// <summary>A GOAWAY: routine, unless it names an error; the log has the peer's words either way.</summary>
    internal void GoesAway(PooledConnection connection, long errorCode, string? reason)
    {
        reason ??= "it gave no reason";
        PooledConnection? ended;
        (bool Routine, bool Error) logged;
        lock (_lock)
        {
            logged = connection.GoAwayLogged;
            if (errorCode == 0 && connection is { HasAnswered: true, IsDraining: false })
            {
                // It served, and ends as a matter of routine: its successor is no storm.
                _dials.GiveBack();
            }

            connection.GoAwayLogged = (logged.Routine || errorCode == 0, logged.Error || errorCode != 0);
            ended = Drain(connection, errorCode == 0 ? ConnectionEnd.GoAway : ConnectionEnd.GoAwayError);
        }

        if (errorCode == 0 && !logged.Routine)
        {
            Log.GoAway(_logger, _options.Origin.Host, connection.Number, reason);
        }
        else if (errorCode != 0 && !logged.Error)
        {
            Log.GoAwayError(_logger, _options.Origin.Host, connection.Number, errorCode, reason);
        }

        Close(ended);
    }

    internal void HasEnded(PooledConnection connection, long violation)
    {
        if (violation != 0)
        {
            Log.ProtocolBroken(_logger, _options.Origin.Host, connection.Number, violation);
        }

        lock (_lock)
        {
            connection.HasEnded = true;
            if (!_connections.Contains(connection))
            {
                return;
            }

            if (connection.HasSettings && !connection.IsDraining)
            {
                _gauges.Ended(ConnectionEnd.Lost);
            }

            Remove(connection);
        }

        if (!connection.HasSettings)
        {
            // TCP and TLS are no connection yet: something listens there and does not speak.
            _gauges.Dialled(opened: false);
            Log.DialFailed(_logger, _options.Origin.Host, ConnectionPlace.NoSettings);
        }

        Close(connection);
    }

    /// <summary>Dials one more when requests wait and none of the connections can still become wider by itself; fails the waiters when there is no hope. Under the lock.</summary>
    private void Grow()
    {
        var usable = 0;
        foreach (var connection in _connections)
        {
            usable += connection.IsDraining ? 0 : 1;
            if (!connection.IsDraining && connection.IsCold)
            {
                // Its first answer is on the way and opens many places; a second cold one would add a single place.
                return;
            }
        }

        if (_waiters.Count == 0 || _isDialling || usable >= _options.MaxConnections)
        {
            return;
        }

        if (!_isDisposed && _dials.TryTake())
        {
            _isDialling = true;
            _ = _dialler.DialAsync(_stopping.Token);
        }
        else if (usable == 0)
        {
            WaitOrFail();
        }
    }

    private void WaitOrFail()
    {
        var pause = _dials.Wait();
        if (_isDisposed || pause > ShortPause)
        {
            FailWaiters(_isDisposed ? "connection-closed" : _dials.Reason);
        }
        else
        {
            _timer.Change(pause, TickPeriod);
        }
    }

    /// <summary>A connection was dialled.</summary>
    internal void Opened(PooledConnection connection)
    {
        PooledConnection? ended;
        lock (_lock)
        {
            _isDialling = false;
            if (!_isDisposed && !connection.HasEnded)
            {
                _connections.Add(connection);
                _timer.Change(TickPeriod, TickPeriod);
                ended = _connections.Find(one => IsOld(one, connection.OpenedAt)) is { } old ? Drain(old, ConnectionEnd.Lifetime) : null;
                Release(connection);
            }
            else
            {
                _dials.Failed(connection.HasSettings ? Lost : ConnectionPlace.NoSettings);
                ended = connection;
            }

            Grow();
        }

        Close(ended);
    }

    /// <summary>None was.</summary>
    internal void DialFailed(string fault)
    {
        lock (_lock)
        {
            _isDialling = false;
            _dials.Failed(fault);
            if (_connections.TrueForAll(static connection => connection.IsDraining))
            {
                FailWaiters(fault);
            }
        }

        Log.DialFailed(_logger, _options.Origin.Host, fault);
    }

    /// <summary>Takes no more requests. Not null: nothing was under way, so it is out of the pool and the caller closes it.</summary>
    private PooledConnection? Drain(PooledConnection connection, ConnectionEnd end)
    {
        if (connection.IsDraining || connection.HasEnded)
        {
            return null;
        }

        connection.Drain(_time.GetTimestamp());
        _gauges.Ended(end);
        var gone = connection.InFlight == 0 ? Remove(connection) : null;
        Grow();
        return gone;
    }

    private PooledConnection? Remove(PooledConnection connection)
    {
        if (!_connections.Remove(connection))
        {
            return null;
        }

        connection.HasEnded = true;
        CountUnanswered(connection);
        Grow();
        return connection;
    }

    /// <summary>Opened and gone without an answer: to dial again at once would be a storm. Known once the last request has heard its end.</summary>
    private void CountUnanswered(PooledConnection connection)
    {
        if (connection is { HasEnded: true, HasAnswered: false, InFlight: 0 })
        {
            _dials.Failed(connection.HasSettings ? Lost : ConnectionPlace.NoSettings);
        }
    }

    private static void Close(PooledConnection? connection)
    {
        if (connection is not null)
        {
            // On the pool and not awaited: the caller may be the connection's own reading path, and nobody waits for a goodbye.
            ThreadPool.UnsafeQueueUserWorkItem(static wire => _ = wire.DisposeAsync().AsTask(), connection.Wire!, preferLocal: false);
        }
    }
}
