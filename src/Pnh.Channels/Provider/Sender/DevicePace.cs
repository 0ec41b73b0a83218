namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// A limit on what one address gets, and the silence that a provider asked for it. The limit is a table of fixed size by hash of the address: two that share a
/// place share its limit, which delays one of them now and then and refuses nobody. Silence is kept by the address itself: it lasts up to an hour, and strangers
/// must not be silent with it. Thread-safe.
/// </summary>
internal sealed class DevicePace
{
    /// <summary>Addresses silent at once, some 6 MB; of one more the provider says it again.</summary>
    public const int MostHeld = 16_384;

    /// <summary>Half a megabyte.</summary>
    private const int Places = 1 << 16;

    private static readonly TimeSpan SweepEvery = TimeSpan.FromSeconds(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, long> _held = new(StringComparer.Ordinal);
    private readonly long[]? _free;
    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly long _step;
    private readonly long _burst;
    private volatile bool _isAnyHeld;
    private long _sweepAt;

    /// <param name="perMinute">Messages to one address; 0 = no limit of ours.</param>
    /// <param name="time">Clock.</param>
    public DevicePace(int perMinute, TimeProvider time)
    {
        _time = time;
        _start = time.GetTimestamp();
        _free = perMinute == 0 ? null : new long[Places];
        _step = perMinute == 0 ? 0 : TimeSpan.FromMinutes(1).Ticks / perMinute;
        _burst = TimeSpan.FromMinutes(1).Ticks;
    }

    /// <summary>Zero, and one message is counted, when it may be sent now; else how long until then.</summary>
    public TimeSpan Take(string address)
    {
        if (_isAnyHeld && Silence(address) is var silence && silence > TimeSpan.Zero)
        {
            return silence;
        }

        return _free is null ? TimeSpan.Zero : TakeTurn(ref _free[(uint)string.GetHashCode(address, StringComparison.Ordinal) % Places]);
    }

    /// <summary>The provider wants this address left alone for so long.</summary>
    public void Hold(string address, TimeSpan time)
    {
        lock (_lock)
        {
            var now = Now;
            if (_held.Count >= MostHeld && now >= _sweepAt)
            {
                Sweep(now);
            }

            if (_held.TryGetValue(address, out var until) || _held.Count < MostHeld)
            {
                _held[address] = Math.Max(until, now + time.Ticks);
                _isAnyHeld = true;
            }
        }
    }

    private long Now => _time.GetElapsedTime(_start).Ticks;

    private TimeSpan TakeTurn(ref long place)
    {
        while (true)
        {
            // As the time at which the address would have its whole minute's worth again (GCRA).
            var seen = Volatile.Read(ref place);
            var now = Now;
            var wait = seen - now - _burst;
            if (wait > 0)
            {
                return TimeSpan.FromTicks(wait);
            }

            if (Interlocked.CompareExchange(ref place, Math.Max(seen, now) + _step, seen) == seen)
            {
                return TimeSpan.Zero;
            }
        }
    }

    private TimeSpan Silence(string address)
    {
        lock (_lock)
        {
            if (!_held.TryGetValue(address, out var until))
            {
                return TimeSpan.Zero;
            }

            var left = until - Now;
            if (left <= 0)
            {
                _held.Remove(address);
                _isAnyHeld = _held.Count > 0;
            }

            return TimeSpan.FromTicks(left);
        }
    }

    /// <summary>Who is not silent any more and got nothing since. Under the lock; not with each hold, since it looks at all of them.</summary>
    private void Sweep(long now)
    {
        _sweepAt = now + SweepEvery.Ticks;
        foreach (var (address, until) in _held)
        {
            if (until <= now)
            {
                _held.Remove(address);
            }
        }
    }
}
