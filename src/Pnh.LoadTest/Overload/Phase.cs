namespace Pnh.LoadTest.Overload;

/// <summary>One phase's result.</summary>
/// <param name="Name">What was offered, in words.</param>
/// <param name="Seconds">Measured seconds.</param>
/// <param name="Seen">Latencies and counts.</param>
/// <param name="Cpu">CPU seconds of the hub in the measured time.</param>
/// <param name="GeneratorCpu">CPU seconds of the generator in it: near <paramref name="Seconds"/> the generator itself is the limit.</param>
/// <param name="MostWaiting">Most requests that waited for a connection at once.</param>
/// <param name="Faults">What came wrong in the whole phase.</param>
internal sealed record Phase(string Name, double Seconds, Recorder Seen, double Cpu, double GeneratorCpu, int MostWaiting, PhaseFaults Faults)
{
    /// <summary>What the hub took per CPU second from 64 publishers just before the phase; 0 = not measured.</summary>
    public double Peak { get; init; }

    /// <summary>Accepted events per CPU second of the hub.</summary>
    public double Goodput => Seen.Accepted / Cpu;

    /// <summary>Accepted per CPU second as a share of <see cref="Peak"/>, which takes the host's speed of that moment out of it; infinite when not measured.</summary>
    public double OfPeak => Goodput / Peak;
}
