using Pnh.Core.Threads;

namespace Pnh.Core.Tests.Threads;

public sealed class LowPriorityTests
{
    [Fact]
    public void Take_OnAThread_ItAloneStandsBack()
    {
        var usual = LowPriority.Read();
        var (taken, read) = (false, 0);
        var thread = new Thread(() =>
        {
            taken = LowPriority.Take();
            read = LowPriority.Read();
        });

        thread.Start();
        thread.Join();

        Assert.Equal(OperatingSystem.IsLinux(), taken);
        Assert.Equal(taken ? Math.Max(10, usual) : usual, read);
        Assert.Equal(usual, LowPriority.Read());
    }
}
