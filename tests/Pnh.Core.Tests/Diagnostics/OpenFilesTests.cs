using System.Runtime.Versioning;
using Pnh.Core.Diagnostics;

namespace Pnh.Core.Tests.Diagnostics;

[SupportedOSPlatform("linux")]
public sealed class OpenFilesTests
{
    [Fact]
    public void Count_FilesOpened_CountsThem()
    {
        const int opened = 200;
        var before = OpenFiles.Count();
        var files = Enumerable.Range(0, opened).Select(static _ => File.OpenHandle("/dev/null")).ToArray();
        var after = OpenFiles.Count();
        foreach (var file in files)
        {
            file.Dispose();
        }

        // Other tests open and close their own meanwhile.
        Assert.InRange(after - before, opened / 2, opened * 2);
    }

    [Fact]
    public void ReadSize_WhereTheKernelSaysIt_IsAboutWhatTheListHas()
    {
        var size = OpenFiles.ReadSize();
        var listed = OpenFiles.List();

        // 0 before Linux 6.2.
        Assert.True(size == 0 || Math.Abs(size - listed) < 100, $"{size} {listed}");
    }
}
