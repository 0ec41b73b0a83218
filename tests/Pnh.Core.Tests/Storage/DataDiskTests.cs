using Pnh.Storage.Files;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

public sealed class DataDiskTests
{
    private const long Segment = 64L * 1024 * 1024;

    [Fact]
    public void UsualBound_OnADiskWithRoom_LeavesSomeFree()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder["journal"]);
        File.WriteAllBytes(Path.Combine(folder["journal"], "00000001.log"), new byte[5_000]);
        var disk = new DataDisk(folder.FullPath);

        Assert.Equal(5_000, disk.JournalBytes);
        Assert.InRange(disk.FreeBytes, 1, long.MaxValue);
        Assert.InRange(disk.UsualBound(Segment)!.Value, 2 * Segment, Math.Max(2 * Segment, disk.FreeBytes + 5_000 - (1024L * 1024 * 1024) + (100L * 1024 * 1024)));
    }

    [Fact]
    public void UsualBound_LargerSegmentsThanTheDisk_IsTwoOfThem()
    {
        using var folder = new TemporaryFolder();

        Assert.Equal(long.MaxValue - 1, new DataDisk(folder.FullPath).UsualBound(long.MaxValue / 2));
    }
}
