using Pnh.Core.Threads;

namespace Pnh.Core.Tests.Threads;

public sealed class ShortSliceTests
{
    [Fact]
    public void Take_OnAThread_ItAloneHasShortTurns()
    {
        var usual = ShortSlice.Read();
        var (taken, read) = (false, 0UL);
        var thread = new Thread(() =>
        {
            taken = ShortSlice.Take();
            read = ShortSlice.Read();
        });

        thread.Start();
        thread.Join();

        // Before Linux 6.12 there is no slice to read or to set: 0, and nothing else happened.
        Assert.Equal(usual == 0 ? 0UL : 100_000UL, read);
        Assert.Equal(OperatingSystem.IsLinux(), taken);
        Assert.Equal(usual, ShortSlice.Read());
    }
}
