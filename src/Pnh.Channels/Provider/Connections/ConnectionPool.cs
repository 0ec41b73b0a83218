using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Provider.Connections;

/// <summary>
/// The connections of one credential and class to one origin. A connection is cold (one request at a time) until the provider has answered an
/// authenticated request, then warm, and drains when its time is over, the peer says so or it stalls. Each request takes the less loaded of two; when
/// all are full one more is dialled, one at a time, within the dial budget. Nothing is buffered below it. Thread-safe.
/// </summary>
internal sealed partial class ConnectionPool : IConnectionSource
{
    private readonly Lock _lock = new();
    private readonly List<PooledConnection> _connections = [];
    private readonly Queue<TaskCompletionSource<ConnectionPlace>> _waiters = new();
    private readonly PoolOptions _options;
    private readonly PoolDialler _dialler;
    private readonly DialBudget _dials;
    private readonly ProviderGauges _gauges;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly CancellationTokenSource _stopping = new();
    private bool _isDialling;
    private bool _isDisposed;
    private int _inFlight;

    public ConnectionPool(PoolOptions options, ProviderServices services)
    {
        _options = options;
        _time = services.Time;
        _dials = new DialBudget(options.MaxConnections + 2, services.Time);
        _logger = services.Loggers.CreateLogger<ConnectionPool>();
        _dialler = new PoolDialler(this, options, services, _logger);
        _timer = services.Time.CreateTimer(static pool => ((ConnectionPool)pool!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        _gauges = services.Gauges;
        _gauges.Add(this);
    }

    public int MaxInFlight => _options.MaxConnections * _options.MaxInFlight;

    public int MaxLate => Math.Max(1, MaxInFlight / 4);

    /// <summary>Requests handed to a connection and not answered yet.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    public ValueTask<ConnectionPlace> EnterAsync(CancellationToken cancellationToken)
    {
        TaskCompletionSource<ConnectionPlace> waiter;
        lock (_lock)
        {
            if (_waiters.Count == 0 && Pick() is { } connection)
            {
                return ValueTask.FromResult(Take(connection));
            }

            waiter = new TaskCompletionSource<ConnectionPlace>(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiters.Enqueue(waiter);
            Grow();
        }

        return waiter.Task.IsCompleted ? new ValueTask<ConnectionPlace>(waiter.Task) : WaitAsync(waiter, cancellationToken);
    }

    public void Exit(in ConnectionPlace place, bool answered, bool proven)
    {
        PooledConnection? ended;
        lock (_lock)
        {
            var connection = (PooledConnection)place.Owner!;
            var now = _time.GetTimestamp();
            connection.InFlight--;
            _inFlight--;
            connection.IdleSince = now;
            connection.HasMissed |= !answered;
            if (answered)
            {
                connection.SilentSince = connection.InFlight > 0 ? now : null;
                connection.HasMissed = false;
                connection.HasAnswered = true;
                connection.IsProven |= proven;
                _dials.Succeeded();
            }

            ended = Freed(connection);
        }

        Close(ended);
    }

    public void Unanswered(in ConnectionPlace place)
    {
        var connection = (PooledConnection)place.Owner!;
        lock (_lock)
        {
            // It takes one request at a time, and that one may be under way for long.
            if (connection.IsCold)
            {
                Drain(connection, ConnectionEnd.Stalled);
            }
        }
    }

    public bool HasSettings(in ConnectionPlace place)
    {
        lock (_lock)
        {
            return ((PooledConnection)place.Owner!).HasSettings;
        }
    }

    public void Return(in ConnectionPlace place)
    {
        PooledConnection? ended;
        lock (_lock)
        {
            var connection = (PooledConnection)place.Owner!;
            TakeBack(connection);
            ended = Freed(connection);
        }

        Close(ended);
    }

    public void Retire(in ConnectionPlace place)
    {
        var connection = (PooledConnection)place.Owner!;
        PooledConnection? ended;
        lock (_lock)
        {
            ended = Drain(connection, ConnectionEnd.Retired);
        }

        Close(ended);
    }

    /// <summary>No further request goes to any connection that is open now: what they have seen of us is of no use any more.</summary>
    public void RetireAll()
    {
        PooledConnection?[] ended;
        lock (_lock)
        {
            ended = [.. _connections.ToArray().Select(connection => Drain(connection, ConnectionEnd.Retired))];
        }

        Array.ForEach(ended, Close);
    }

    /// <summary>Open connections in this state.</summary>
    public int Count(ConnectionState state)
    {
        lock (_lock)
        {
            return _connections.Count(connection => state == StateOf(connection));
        }
    }

    public async ValueTask DisposeAsync()
    {
        PooledConnection[] open;
        lock (_lock)
        {
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
            open = [.. _connections];
            _connections.Clear();
            FailWaiters("connection-closed");
        }

        _gauges.Remove(this);
        await _stopping.CancelAsync();
        await _timer.DisposeAsync();
        foreach (var connection in open)
        {
            await connection.Wire!.DisposeAsync();
        }

        _stopping.Dispose();
    }

    private static ConnectionState StateOf(PooledConnection connection) =>
        connection.IsDraining ? ConnectionState.Draining : connection.IsCold ? ConnectionState.Cold : ConnectionState.Warm;

    /// <summary>The less loaded of two taken by chance: nearly as even as the least of all, without sending every newcomer to the same one.</summary>
    private PooledConnection? Pick()
    {
        if (_connections.Count == 0)
        {
            return null;
        }

        var one = _connections[Random.Shared.Next(_connections.Count)];
        var other = _connections[Random.Shared.Next(_connections.Count)];
        var better = other.Room > 0 && (one.Room == 0 || other.InFlight < one.InFlight) ? other : one;
        return better.Room > 0 ? better : _connections.Find(static connection => connection.Room > 0);
    }

    private ConnectionPlace Take(PooledConnection connection)
    {
        connection.InFlight++;
        _inFlight++;
        connection.SilentSince ??= _time.GetTimestamp();
        return new ConnectionPlace(connection.Wire, connection, null);
    }

    /// <summary>The opposite of <see cref="Take"/>. Nothing was sent, so nobody waits for an answer, unless somebody did before.</summary>
    private void TakeBack(PooledConnection connection)
    {
        connection.InFlight--;
        _inFlight--;
        if (connection is { InFlight: 0, HasMissed: false })
        {
            connection.SilentSince = null;
        }
    }

    /// <summary>A place is free: for who waits, or the connection may go. Not null: the caller closes it.</summary>
    private PooledConnection? Freed(PooledConnection connection)
    {
        PooledConnection? ended = null;
        if (connection.HasEnded)
        {
            CountUnanswered(connection);
        }
        else if (connection.IsDraining && connection.InFlight == 0)
        {
            ended = Remove(connection);
        }

        Release(connection);
        return ended;
    }

    private void Release(PooledConnection connection)
    {
        while (connection.Room > 0 && _waiters.TryDequeue(out var waiter))
        {
            var place = Take(connection);
            if (!waiter.TrySetResult(place))
            {
                // Gave up meanwhile.
                TakeBack(connection);
            }
        }
    }

    private void FailWaiters(string fault)
    {
        while (_waiters.TryDequeue(out var waiter))
        {
            waiter.TrySetResult(ConnectionPlace.None(fault));
        }
    }

    private static async ValueTask<ConnectionPlace> WaitAsync(TaskCompletionSource<ConnectionPlace> waiter, CancellationToken cancellationToken)
    {
        await using (cancellationToken.UnsafeRegister(
            static waiter => ((TaskCompletionSource<ConnectionPlace>)waiter!).TrySetResult(ConnectionPlace.None(ConnectionPlace.Busy)), waiter))
        {
            return await waiter.Task;
        }
    }
}
