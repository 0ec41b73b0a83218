using System.Globalization;
using Pnh.Storage.Files;

namespace Pnh.Api.Doctor;

/// <summary>The data folder's disk: whether it can be written, what is free, how long a sync takes. Leaves nothing behind.</summary>
internal static class DiskCheck
{
    private const long LeastFree = 256L * 1024 * 1024;
    private const long Comfortable = 2L * 1024 * 1024 * 1024;
    private const int Syncs = 20;
    private static readonly TimeSpan SlowSync = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan UselessSync = TimeSpan.FromMilliseconds(100);

    /// <summary>Of a folder, or of the one that it would be made in.</summary>
    public static IEnumerable<Finding> Look(string data, TimeProvider time)
    {
        var exists = Directory.Exists(data);
        var folder = exists ? data : Path.GetDirectoryName(Path.GetFullPath(data))!;
        if (!exists)
        {
            yield return new Finding(Grade.Good, "data folder", $"{data} does not exist yet: the first start makes it");
        }

        var free = new DataDisk(folder).FreeBytes;
        yield return new Finding(
            free < LeastFree ? Grade.Bad : free < Comfortable ? Grade.Doubtful : Grade.Good,
            "free disk",
            string.Create(CultureInfo.InvariantCulture, $"{free / 1e9:F1} GB below {folder}{(free < Comfortable ? "; make room, or bound the log with Pnh:Journal:MaxBytes" : "")}"));
        yield return Sync(folder, time);
    }

    private static Finding Sync(string folder, TimeProvider time)
    {
        var path = Path.Combine(folder, $".doctor-{Environment.ProcessId}");
        try
        {
            var times = new List<TimeSpan>(Syncs);
            using var file = new FileStream(path, new FileStreamOptions { Mode = FileMode.CreateNew, Access = FileAccess.Write, Options = FileOptions.DeleteOnClose, BufferSize = 0 });
            for (var n = 0; n < Syncs; n++)
            {
                file.Write(new byte[512]);
                var started = time.GetTimestamp();
                file.Flush(flushToDisk: true);
                times.Add(time.GetElapsedTime(started));
            }

            times.Sort();
            var median = times[Syncs / 2];
            var text = string.Create(CultureInfo.InvariantCulture, $"{median.TotalMilliseconds:F2} ms in the middle of {Syncs}, {times[^1].TotalMilliseconds:F1} ms the longest");
            return median < SlowSync ? new Finding(Grade.Good, "disk sync", text)
                : new Finding(median < UselessSync ? Grade.Doubtful : Grade.Bad, "disk sync", $"{text}; every 202 waits for one: give the data folder a local SSD");
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return new Finding(Grade.Bad, "disk sync", $"{folder} cannot be written: {fault.Message.TrimEnd('.')}. Give this user the rights to it, or set Pnh:Data to another folder");
        }
    }
}
