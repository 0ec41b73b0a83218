using System.Collections.Concurrent;
using System.Globalization;
using Pnh.Core.Stores;

namespace Pnh.Storage.Segments.Format;

/// <summary>The segments there are, oldest first; the last one is written. Changed by the writer, read by any thread.</summary>
internal sealed class SegmentSet
{
    private const string Suffix = ".log";

    // What a caller asks for a second time is known; a disk that is broken all over is not counted to its end.
    private const int MostDamaged = 10_000;

    private readonly ConcurrentDictionary<long, bool> _damaged = [];
    private volatile Segment[] _all = [];

    /// <summary>One came to the end, or the oldest went: on the writer's thread, which must not be held up.</summary>
    public event Action? Changed;

    /// <summary>Told once of each damaged place that a read finds, where and what to do, on any thread; must be quick. Null = nobody.</summary>
    public Action<string>? FoundDamage { get; set; }

    /// <summary>Damaged places that reads found, each once.</summary>
    public int Damaged => _damaged.Count;

    /// <summary>As of now; does not change.</summary>
    public ReadOnlySpan<Segment> All => _all;

    public int Count => _all.Length;

    public Segment Oldest => _all[0];

    public Segment Last => _all[^1];

    public static string FileName(int number) => number.ToString("d8", CultureInfo.InvariantCulture) + Suffix;

    /// <summary>The number in a segment's file name; 0 = not one.</summary>
    public static int NumberOf(string name) =>
        name.Length == 8 + Suffix.Length && name.EndsWith(Suffix, StringComparison.Ordinal)
        && int.TryParse(name.AsSpan(0, 8), NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;

    /// <summary>Null = removed, or never was.</summary>
    public Segment? Find(int number)
    {
        var all = _all; // once: the oldest may be removed at any moment
        var (low, high) = (0, all.Length);
        while (low < high)
        {
            var middle = (low + high) / 2;
            (low, high) = all[middle].Number < number ? (middle + 1, high) : (low, middle);
        }

        return low < all.Length && all[low].Number == number ? all[low] : null;
    }

    /// <summary>What a caller hears of a record that cannot be read, which is noted.</summary>
    public StoreUnavailableException Unreadable(long position)
    {
        var fault = DiskFault.Unreadable(position);
        if (_damaged.Count < MostDamaged && _damaged.TryAdd(position, true))
        {
            FoundDamage?.Invoke(fault.Message);
        }

        return fault;
    }

    public void Add(Segment segment)
    {
        _all = [.. _all, segment];
        Changed?.Invoke();
    }

    public void RemoveLast()
    {
        var last = _all[^1];
        _all = _all[..^1];
        last.File.Dispose();
    }

    /// <summary>Closes its file: who still reads there hears that it is gone.</summary>
    public void RemoveOldest()
    {
        var oldest = _all[0];
        _all = _all[1..];
        oldest.File.Dispose();
        Changed?.Invoke();
    }

    public void Close()
    {
        foreach (var segment in _all)
        {
            segment.File.Dispose();
        }
    }
}
