using System.Diagnostics;

namespace Pnh.Benchmarks;

/// <summary>What one of a piece's operations takes, without a benchmark's statistics.</summary>
internal static class Measure
{
    private static readonly TimeSpan Warm = TimeSpan.FromMilliseconds(600);
    private static readonly TimeSpan Round = TimeSpan.FromMilliseconds(150);

    /// <summary>
    /// Bytes allocated for one, by this thread; <paramref name="everywhere"/> = by the process. Exact once everything is warm, whatever else the
    /// machine does: the least of some rounds, because a table that grows once is no cost of an operation.
    /// </summary>
    public static double Bytes(Piece piece, bool everywhere, int operations)
    {
        var least = double.MaxValue;
        for (var round = 0; round < 4; round++)
        {
            var before = Allocated(everywhere);
            for (var i = 0; i < operations; i++)
            {
                piece.Run();
            }

            var each = (Allocated(everywhere) - before) / (double)operations / piece.Of;
            least = round > 0 && each < least ? each : least;
        }

        return least;
    }

    /// <summary>Wall and process CPU nanoseconds of one: medians of 7 rounds.</summary>
    public static (double Wall, double Cpu) Time(Piece piece)
    {
        for (var started = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(started) < Warm;)
        {
            piece.Run();
        }

        var wall = new List<double>();
        var cpu = new List<double>();
        for (var round = 0; round < 7; round++)
        {
            var count = 0L;
            var used = Environment.CpuUsage.TotalTime;
            var started = Stopwatch.GetTimestamp();
            do
            {
                piece.Run();
                count++;
            }
            while (Stopwatch.GetElapsedTime(started) < Round);

            wall.Add(Stopwatch.GetElapsedTime(started).TotalNanoseconds / count / piece.Of);
            cpu.Add((Environment.CpuUsage.TotalTime - used).TotalNanoseconds / count / piece.Of);
        }

        wall.Sort();
        cpu.Sort();
        return (wall[3], cpu[3]);
    }

    private static long Allocated(bool everywhere) =>
        everywhere ? GC.GetTotalAllocatedBytes(precise: true) : GC.GetAllocatedBytesForCurrentThread();
}
