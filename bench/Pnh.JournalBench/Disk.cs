using System.Diagnostics;
using Pnh.Storage.Segments.Format;

namespace Pnh.JournalBench;

/// <summary>The disk itself: what one sync of a preallocated file costs, a block at a time.</summary>
internal static class Disk
{
    public static List<double> Syncs(string folder)
    {
        var disk = DiskFolder.At(Path.Combine(folder, "probe"));
        var times = new List<double>();
        using (var file = disk.Create("probe", 8 * 1024 * 1024))
        {
            file.Sync();
            var block = new byte[512];
            for (var i = 0; i < 1_000; i++)
            {
                file.Write(block, i * block.Length);
                var started = Stopwatch.GetTimestamp();
                file.Sync();
                times.Add(Stopwatch.GetElapsedTime(started).TotalMilliseconds);
            }
        }

        disk.Delete("probe");
        times.Sort();
        return times;
    }
}
