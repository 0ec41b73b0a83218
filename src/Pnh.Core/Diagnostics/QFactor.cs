namespace Pnh.Core.Diagnostics;

/// <summary>
/// The Q-factor: requests served per second of process CPU time, over the last 60 s. A request is an accepted event or a completed delivery;
/// errors, refusals and duplicates serve nobody. CPU time is user plus system time of the whole process, all cores.
/// </summary>
/// <example>
/// At 12:00:00 the process has served 10,000 requests with 40.0 CPU seconds since its start; at 12:01:00, 16,000 with 43.0.
/// Q = (16,000 - 10,000) / (43.0 - 40.0) = 2,000 requests per CPU second. How many cores it ran on, and how long it was idle, does not matter.
/// </example>
/// <remarks>
/// The value is 0 until CPU time was measured between two samples. While fewer than 60 s were sampled, the window is what there is. One
/// writer; <see cref="Value"/> may be read from any thread. Q depends on the mix of traffic: compare two versions on the same mix.
/// </remarks>
internal sealed class QFactor
{
    /// <summary>Length of the window.</summary>
    public static readonly TimeSpan Window = TimeSpan.FromSeconds(60);

    // One sample a second: the window's 60, its starting point, and a few in hand.
    private readonly Sample[] _ring = new Sample[64];
    private int _count;
    private double _value;
    private double _cores;

    /// <summary>Requests per CPU second; 0 = no CPU used yet.</summary>
    public double Value => Volatile.Read(ref _value);

    /// <summary>How many cores were busy in the same window, on average; 0 = no CPU used yet.</summary>
    public double Cores => Volatile.Read(ref _cores);

    /// <summary>Adds a reading of both counters, once a second.</summary>
    /// <param name="at">Monotonic time of the reading, from any origin.</param>
    /// <param name="served">Requests served since the start.</param>
    /// <param name="cpu">CPU time since the start.</param>
    public void Add(TimeSpan at, long served, TimeSpan cpu)
    {
        var newest = new Sample(at, served, cpu);
        _ring[_count++ % _ring.Length] = newest;
        var oldest = FindStart(at - Window);
        var seconds = (newest.Cpu - oldest.Cpu).TotalSeconds;
        Volatile.Write(ref _value, seconds > 0 ? (newest.Served - oldest.Served) / seconds : 0);
        Volatile.Write(ref _cores, newest.At > oldest.At ? seconds / (newest.At - oldest.At).TotalSeconds : 0);
    }

    /// <summary>The youngest sample that is not younger than the window's start; the oldest there is when all are younger.</summary>
    private Sample FindStart(TimeSpan start)
    {
        var kept = Math.Min(_count, _ring.Length);
        for (var back = 1; back <= kept; back++)
        {
            var sample = _ring[(_count - back) % _ring.Length];
            if (sample.At <= start || back == kept)
            {
                return sample;
            }
        }

        return default;
    }

    private readonly record struct Sample(TimeSpan At, long Served, TimeSpan Cpu);
}
