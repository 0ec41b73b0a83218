using System.Globalization;
using Pnh.Storage.Files;
using Pnh.Storage.Segments;

namespace Pnh.Api.Doctor;

/// <summary>The data folder's disk: whether it can be written, what is free, how long a sync takes. Leaves nothing behind.</summary>
internal static class DiskCheck
{
    private const long LeastFree = 256L * 1024 * 1024;
    private const long Comfortable = 2L * 1024 * 1024 * 1024;
    private const int Syncs = 20;

    // docs/operate.md: a durable event that its client acknowledges.
    private const double BytesOfAnEvent = 750;
    private static readonly TimeSpan SlowSync = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan UselessSync = TimeSpan.FromMilliseconds(100);

    /// <summary>Of a folder, or of the one that it would be made in.</summary>
    public static IEnumerable<Finding> Look(string data, JournalOptions journal, TimeProvider time)
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
        yield return History(data, journal);
        yield return Sync(folder, time);
    }

    /// <summary>What the journal may take: said, or chosen from what is free.</summary>
    private static Finding History(string data, JournalOptions journal)
    {
        var bytes = Bound(data, journal);
        var chosen = journal.MaxBytes is null ? "chosen from what the disk has free" : "Pnh:Journal:MaxBytes";
        var text = bytes is { } most
            ? string.Create(CultureInfo.InvariantCulture, $"the journal may take {most / 1e6:F0} MB ({chosen}): some {most / BytesOfAnEvent / journal.Retention.TotalSeconds:F0} durable events a second over a retention of {journal.Retention.TotalHours:0.#} h")
            : "the journal has no bound, as the disk does not say how large it is";
        return new Finding(bytes < Comfortable ? Grade.Doubtful : Grade.Good, "history", bytes < Comfortable ? $"{text}; more go before their retention is over" : text);
    }

    /// <summary>The bound that a start would take; null = none.</summary>
    internal static long? Bound(string data, JournalOptions journal) =>
        new DataDisk(Directory.Exists(data) ? data : Path.GetDirectoryName(Path.GetFullPath(data))!).Bound(journal.MaxBytes, journal.SegmentBytes);

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
