using System.Diagnostics;

namespace Pnh.LoadTest.Overload;

/// <summary>What an fsync costs on the hub's disk, without the hub: 4 kB appended and synced, one after the other. Without it no figure of a durable hub says anything.</summary>
internal static class SyncProbe
{
    private const int Rounds = 200;

    /// <summary>Times of one write and sync in the folder, as it is now. The file is removed.</summary>
    public static Quantiles Measure(string folder)
    {
        var path = Path.Combine(folder, "sync-probe");
        var times = new List<long>(Rounds);
        var page = new byte[4096];
        using (var file = new FileStream(path, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0, FileOptions.DeleteOnClose))
        {
            for (var i = 0; i < Rounds; i++)
            {
                var start = Stopwatch.GetTimestamp();
                file.Write(page);
                file.Flush(flushToDisk: true);
                times.Add(Stopwatch.GetTimestamp() - start);
            }
        }

        return Quantiles.Of(times);
    }
}
