namespace Pnh.Channels.Http;

/// <summary>
/// Bounds the requests under way on one lane's connection: one while the connection is cold, <c>limit</c> once an authenticated answer has
/// warmed it. APNs grants a single stream until it has seen a valid provider token, while SocketsHttpHandler assumes 100 until the peer's
/// SETTINGS arrive, so a burst on a new connection would break the rule. Thread-safe; waiters are served in order.
/// </summary>
internal sealed class ConnectionGate
{
    private readonly Lock _lock = new();
    private readonly Queue<TaskCompletionSource> _waiters = new();
    private readonly int _limit;
    private readonly bool _startsCold;
    private object? _current;
    private bool _warm;
    private int _inFlight;
    private int _open;

    /// <param name="limit">Requests at once when warm, at least 1.</param>
    /// <param name="startsCold">False: a new connection counts as warm at once (FCM).</param>
    public ConnectionGate(int limit, bool startsCold)
    {
        _limit = limit;
        _startsCold = startsCold;
        _warm = !startsCold;
    }

    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Takes a place, at once when there is one. Every completed wait must be paid back by <see cref="Exit"/>.</summary>
    public ValueTask EnterAsync(TimeSpan limit, TimeProvider time, CancellationToken cancellationToken)
    {
        TaskCompletionSource waiter;
        lock (_lock)
        {
            if (_waiters.Count == 0 && _inFlight < Allowed)
            {
                _inFlight++;
                return ValueTask.CompletedTask;
            }

            waiter = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiters.Enqueue(waiter);
        }

        return WaitAsync(waiter, limit, time, cancellationToken);
    }

    /// <summary>Gives the place back. <paramref name="authenticated"/>: the provider's answer proved that it takes our credential.</summary>
    public void Exit(bool authenticated)
    {
        lock (_lock)
        {
            _inFlight--;
            _warm |= authenticated;
            Release();
        }
    }

    /// <summary>A connection was made; it is the lane's current one from now on.</summary>
    public void Opened(object connection)
    {
        lock (_lock)
        {
            _open++;
            _current = connection;
            _warm = !_startsCold;
        }
    }

    /// <summary>A connection is gone. When it was the current one, the next starts cold.</summary>
    public void Closed(object connection)
    {
        lock (_lock)
        {
            _open--;
            if (ReferenceEquals(_current, connection))
            {
                _current = null;
                _warm = !_startsCold;
            }
        }
    }

    public int Connections(ConnectionState state)
    {
        lock (_lock)
        {
            var cold = _current is not null && !_warm ? 1 : 0;
            return state == ConnectionState.Cold ? cold : _open - cold;
        }
    }

    private int Allowed => _warm ? _limit : 1;

    private void Release()
    {
        while (_inFlight < Allowed && _waiters.TryDequeue(out var waiter))
        {
            // False when the waiter gave up meanwhile.
            if (waiter.TrySetResult())
            {
                _inFlight++;
            }
        }
    }

    private static async ValueTask WaitAsync(TaskCompletionSource waiter, TimeSpan limit, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            await waiter.Task.WaitAsync(limit, time, cancellationToken);
        }
        catch (Exception) when (!waiter.TrySetCanceled(CancellationToken.None))
        {
            // The place was given in the moment of giving up: take it, the caller sees its own cancellation soon enough.
        }
    }
}
