using System.Diagnostics;

namespace Pnh.LoadTest.Profiles;

/// <summary>A line a second on standard error.</summary>
internal sealed class Progress
{
    private readonly BenchRun _run;
    private readonly bool _isTerminal = !Console.IsErrorRedirected;
    private long _next = Stopwatch.GetTimestamp() + Stopwatch.Frequency;
    private long _before;

    public Progress(BenchRun run)
    {
        _run = run;
        run.Loop.Turns.Add(Turn);
    }

    private void Turn(long now)
    {
        if (now < _next)
        {
            return;
        }

        _next = now + Stopwatch.Frequency;
        var count = _run.Arrivals.Count;
        var arrivals = _run.Arrivals;
        Console.Error.Write(FormattableString.Invariant(
            $"{(_isTerminal ? '\r' : ' ')}{_run.Options.Profile} {_run.Options.Peer}: {Math.Max(0, count - _before)}/s, p99 {arrivals.Latency.At(0.99):F1} ms, wrong {arrivals.Duplicates + arrivals.Reordered + arrivals.Misrouted}, dropped {_run.Fleet.Dropped} {(_isTerminal ? ' ' : '\n')}"));
        _before = count;
    }
}
