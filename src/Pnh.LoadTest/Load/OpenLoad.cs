using System.Diagnostics;
using Pnh.LoadTest.Wire;

namespace Pnh.LoadTest.Load;

/// <summary>Open loop: something is due at even distances, or at random ones (Poisson), whatever the server does.</summary>
internal sealed class OpenLoad : ILoad
{
    private readonly Publishers _publishers;
    private readonly double _interval;
    private readonly Random? _random;
    private readonly Action<long> _fire;
    private double _next = double.PositiveInfinity;

    /// <param name="loop">Which calls it.</param>
    /// <param name="publishers">Where it goes.</param>
    /// <param name="rate">Per second.</param>
    /// <param name="isEven">Even distances; else random.</param>
    /// <param name="fire">Called with the time that it was due.</param>
    public OpenLoad(Loop loop, Publishers publishers, double rate, bool isEven, Action<long> fire)
    {
        _publishers = publishers;
        _interval = Stopwatch.Frequency / rate;
        _random = isEven ? null : new Random(20_261_121);
        _fire = fire;
        loop.Turns.Add(Turn);
    }

    /// <summary>From when things were due until the tool came to it.</summary>
    public Measure.LatencyHistogram Lateness { get; } = new();

    public bool IsQuiet => _publishers.IsQuiet;

    public void Start() => _next = Stopwatch.GetTimestamp() + Step();

    public void Stop() => _next = double.PositiveInfinity;

    private void Turn(long now)
    {
        for (; _next <= now; _next += Step())
        {
            Lateness.Add(now - (long)_next);
            _fire((long)_next);
        }
    }

    private double Step() => _random is null ? _interval : -Math.Log(1 - _random.NextDouble()) * _interval;
}
