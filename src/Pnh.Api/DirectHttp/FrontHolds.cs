namespace Pnh.Api.DirectHttp;

/// <summary>
/// Connections that send on though they were refused: each is left unread for a while, longer with each refusal in a row. 1,500 connections that ignored 429, each with a
/// pipeline full of requests, kept the loop busy with refusals, and another app's call waited 45 ms behind them. Thread-safe; nothing waits.
/// </summary>
internal sealed class FrontHolds : IDisposable
{
    // None after the first: a proxy's connection carries other publishers too. A publisher that obeys Retry-After comes back after a second at the earliest.
    private static readonly int[] Milliseconds = [0, 10, 20, 40, 100];

    private readonly PriorityQueue<HttpFront, long> _held = new();
    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private long _next = long.MaxValue;

    /// <summary>With a clock.</summary>
    public FrontHolds(TimeProvider time)
    {
        _time = time;
        _timer = time.CreateTimer(static holds => ((FrontHolds)holds!).Release(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>True when the connection, refused so many times in a row, is to be left unread; then <see cref="HttpFront.Release"/> follows.</summary>
    public bool TryHold(HttpFront front, int refusals)
    {
        var hold = TimeSpan.FromMilliseconds(Milliseconds[Math.Min(refusals, Milliseconds.Length) - 1]);
        if (hold == TimeSpan.Zero)
        {
            return false;
        }

        lock (_gate)
        {
            var due = _time.GetTimestamp() + (long)(hold.TotalSeconds * _time.TimestampFrequency);
            _held.Enqueue(front, due);
            if (due < _next)
            {
                _next = due;
                _timer.Change(hold, Timeout.InfiniteTimeSpan);
            }
        }

        return true;
    }

    public void Dispose() => _timer.Dispose();

    private void Release()
    {
        while (true)
        {
            HttpFront? front;
            lock (_gate)
            {
                if (!_held.TryPeek(out front, out var due))
                {
                    _next = long.MaxValue;
                    return;
                }

                if (due - _time.GetTimestamp() is > 0 and var left)
                {
                    _next = due;
                    _timer.Change(_time.GetElapsedTime(0, left) + TimeSpan.FromMilliseconds(1), Timeout.InfiniteTimeSpan);
                    return;
                }

                _held.Dequeue();
            }

            front.Release();
        }
    }
}
