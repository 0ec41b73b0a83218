using Pnh.Storage.Segments;

namespace Pnh.Core.Tests.Journal;

public sealed class JournalModelTests
{
    [Theory(Timeout = 120_000)]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5, 256)]
    [InlineData(6, 512)]
    [InlineData(7, 1_024)]
    public async Task RandomLife_EveryAnswer_IsTheModels(int seed, int carryBytes = 192 * 1024)
    {
        await using var disk = new JournalOnDisk(options: new JournalOptions { CarryBytes = carryBytes });
        await JournalLives.LiveAsync(seed, disk);
        Assert.NotEqual("00000001.log", disk.Folder.Names.First()); // segments were rotated and removed
    }
}
