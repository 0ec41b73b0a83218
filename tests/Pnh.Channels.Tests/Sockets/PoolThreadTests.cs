using System.Globalization;
using Pnh.Channels.Sockets;

namespace Pnh.Channels.Tests.Sockets;

public sealed class PoolThreadTests
{
    [Fact]
    public void GiveWay_OnAThreadAndOnOneThatItStarts_BothAreFiveBelowTheProcess()
    {
        var process = NicenessAt($"/proc/self/task/{Environment.ProcessId}/stat");
        (int First, int Child) seen = default;
        Run(() =>
        {
            PoolThread.GiveWay();
            PoolThread.GiveWay();
            seen.First = NicenessAt("/proc/thread-self/stat");
            Run(() =>
            {
                PoolThread.GiveWay();
                seen.Child = NicenessAt("/proc/thread-self/stat");
            });
        });

        var expected = Math.Min(19, process + 5);
        Assert.Equal((expected, expected), seen);
        Assert.Equal(process, NicenessAt($"/proc/self/task/{Environment.ProcessId}/stat"));
    }

    private static void Run(Action action)
    {
        var thread = new Thread(() => action());
        thread.Start();
        thread.Join();
    }

    // proc(5): the name, which may have blanks, ends with the last bracket; niceness is the 19th field.
    private static int NicenessAt(string path)
    {
        var stat = File.ReadAllText(path);
        return int.Parse(stat[(stat.LastIndexOf(')') + 2)..].Split(' ')[16], CultureInfo.InvariantCulture);
    }
}
