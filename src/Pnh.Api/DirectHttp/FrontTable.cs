using System.Collections.Concurrent;
using System.Globalization;
using System.Text;
using Pnh.Core.Timing;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// The connections of one listener that <see cref="HttpFront"/> serves, and the second hand that all their times are measured by: one tick a
/// second for all of them. Thread-safe.
/// </summary>
internal sealed class FrontTable : IDisposable
{
    private readonly ConcurrentDictionary<HttpFront, byte> _fronts = new();
    private readonly TaskCompletionSource _allGone = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TimeProvider _time;
    private readonly IDisposable _seconds;
    private volatile byte[] _date;
    private volatile int _now;
    private volatile bool _isStopping;

    public FrontTable(TimeProvider time)
    {
        _time = SteadyClock.WallOf(time);
        _date = Date();
        _seconds = SecondHand.Each(time, Tick);
    }

    /// <summary>Seconds since the table was made, for comparing.</summary>
    public int Now => _now;

    /// <summary>The line <c>Date: …</c> with its end (RFC 9110 section 6.6.1). Not to be written to.</summary>
    public byte[] DateLine => _date;

    /// <summary>True when each answer is its connection's last.</summary>
    public bool IsStopping => _isStopping;

    /// <summary>How many there are.</summary>
    public int Count => _fronts.Count;

    public void Add(HttpFront front) => _fronts[front] = 0;

    public void Remove(HttpFront front)
    {
        if (_fronts.TryRemove(front, out _) && _isStopping && _fronts.IsEmpty)
        {
            _allGone.TrySetResult();
        }
    }

    /// <summary>Closes who has nothing under way, waits for the others that long, aborts who is left.</summary>
    public async Task StopAsync(TimeSpan patience, CancellationToken cancellationToken)
    {
        _isStopping = true;
        foreach (var (front, _) in _fronts)
        {
            front.LookLater();
        }

        if (!_fronts.IsEmpty && patience > TimeSpan.Zero)
        {
            await _allGone.Task.WaitAsync(patience, _time, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        }

        foreach (var (front, _) in _fronts)
        {
            front.Abort();
        }
    }

    public void Dispose() => _seconds.Dispose();

    private void Tick()
    {
        _now++;
        _date = Date();
        foreach (var (front, _) in _fronts)
        {
            if (front.IsOverdue(_now))
            {
                front.LookLater();
            }
        }
    }

    private byte[] Date() => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"Date: {_time.GetUtcNow():R}\r\n"));
}
