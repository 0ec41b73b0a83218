namespace Pnh.Channels.Http;

/// <summary>
/// A limit on what one address gets, and the silence that a provider asked for it. A table of fixed size by hash of the address: two that share a place share
/// its limit, which delays one of them now and then and refuses nobody. Thread-safe, without locks.
/// </summary>
internal sealed class DevicePace
{
    /// <summary>Half a megabyte.</summary>
    private const int Places = 1 << 16;

    private readonly long[] _free = new long[Places];
    private readonly TimeProvider _time;
    private readonly long _start;
    private readonly long _step;
    private readonly long _burst;

    /// <param name="perMinute">Messages to one address; 0 = no limit of ours.</param>
    /// <param name="time">Clock.</param>
    public DevicePace(int perMinute, TimeProvider time)
    {
        _time = time;
        _start = time.GetTimestamp();
        _step = perMinute == 0 ? 0 : TimeSpan.FromMinutes(1).Ticks / perMinute;
        _burst = TimeSpan.FromMinutes(1).Ticks;
    }

    /// <summary>Zero, and one message is counted, when it may be sent now; else how long until then.</summary>
    public TimeSpan Take(string address)
    {
        ref var place = ref Place(address);
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

            if (_step == 0 || Interlocked.CompareExchange(ref place, Math.Max(seen, now) + _step, seen) == seen)
            {
                return TimeSpan.Zero;
            }
        }
    }

    /// <summary>The provider wants this address left alone for so long.</summary>
    public void Hold(string address, TimeSpan time)
    {
        ref var place = ref Place(address);
        var until = Now + time.Ticks + _burst;
        long seen;
        do
        {
            seen = Volatile.Read(ref place);
        }
        while (until > seen && Interlocked.CompareExchange(ref place, until, seen) != seen);
    }

    private long Now => _time.GetElapsedTime(_start).Ticks;

    private ref long Place(string address) => ref _free[(uint)string.GetHashCode(address, StringComparison.Ordinal) % Places];
}
