using System.Numerics;

namespace Pnh.Core.Diagnostics.Exposition;

/// <summary>
/// A row of counters with one copy per core, so that cores do not fight for one cache line (two threads on one shared atomic cost
/// 86–198 ns an add, on their own line about 5). Writers add to their core's copy; a reader sums all copies. Thread-safe, allocates nothing
/// after construction.
/// </summary>
internal sealed class StripedCells
{
    // More copies than this cost memory for machines that nobody scrapes one process on.
    private const int MaxStripes = 64;

    // One cache line between two stripes, wherever the array starts.
    private const int PadCells = 8;

    private static readonly int StripeMask = (int)BitOperations.RoundUpToPowerOf2((uint)Math.Min(Environment.ProcessorCount, MaxStripes)) - 1;

    private readonly long[] _cells;
    private readonly int _stride;

    /// <summary>All zero.</summary>
    /// <param name="count">How many counters stand in the row; at least 1.</param>
    public StripedCells(int count)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(count, 1);
        Count = count;
        _stride = count + PadCells;
        _cells = new long[_stride * (StripeMask + 1)];
    }

    /// <summary>Counters in the row.</summary>
    public int Count { get; }

    /// <summary>Adds to one counter. A thread that moves to another core in between still counts right, only slower: the add is atomic.</summary>
    public void Add(int index, long amount)
    {
        // The row's neighbour is padding or another counter, so a wrong index would be counted silently.
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count);
        Interlocked.Add(ref _cells[((Thread.GetCurrentProcessorId() & StripeMask) * _stride) + index], amount);
    }

    /// <summary>The counter's sum over all cores; adds that run meanwhile may or may not be in it.</summary>
    public long Read(int index)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)index, (uint)Count);
        long sum = 0;
        for (var cell = index; cell < _cells.Length; cell += _stride)
        {
            sum += Volatile.Read(ref _cells[cell]);
        }

        return sum;
    }
}
