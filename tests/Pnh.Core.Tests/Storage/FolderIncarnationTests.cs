using System.Globalization;
using System.Runtime.Versioning;
using Pnh.Storage.Files;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

[UnsupportedOSPlatform("windows")]
public sealed class FolderIncarnationTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private string FilePath => _temporary["hub.incarnation"];

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void IsLost_AnotherHubTakesTheFolder_TheFirstIsLostAtOnceAndTheOtherIsNot()
    {
        using var first = FolderIncarnation.Take(_temporary.FullPath);
        Assert.False(first.IsLost);

        using var second = FolderIncarnation.Take(_temporary.FullPath);

        Assert.True(first.IsLost);
        Assert.True(first.Look());
        Assert.False(second.Look());
    }

    [Fact]
    public void Look_TheFileIsAnotherOne_IsLost()
    {
        // As a network file system shows it: the open file says what it said, the name leads to another.
        using var first = FolderIncarnation.Take(_temporary.FullPath);
        var others = File.ReadAllText(FilePath);
        File.Delete(FilePath);
        File.WriteAllText(FilePath, (others[0] == 'a' ? 'b' : 'a') + others[1..]);

        Assert.False(first.IsLost);
        Assert.True(first.Look());
        Assert.True(first.IsLost);
    }

    [Fact]
    public void Look_TheFileIsGoneOrEmpty_IsWrittenAgain()
    {
        using var first = FolderIncarnation.Take(_temporary.FullPath);
        var own = File.ReadAllText(FilePath);
        File.Delete(FilePath);
        Assert.False(first.Look());
        Assert.Equal(own, File.ReadAllText(FilePath));

        File.WriteAllText(FilePath, string.Empty);
        Assert.False(first.Look());
        Assert.Equal(own, File.ReadAllText(FilePath));
    }

    [Fact]
    public void Dispose_TheFolderIsAnothers_LeavesTheNumber()
    {
        var first = FolderIncarnation.Take(_temporary.FullPath);
        using var second = FolderIncarnation.Take(_temporary.FullPath);
        var text = File.ReadAllText(FilePath);

        first.Dispose();

        Assert.Equal(text, File.ReadAllText(FilePath));
    }

    [Fact]
    public void Wait_OnlyWhereTheHubBeforeMayRun()
    {
        FolderIncarnation.Take(_temporary.FullPath).Dispose();
        var length = new FileInfo(FilePath).Length;

        // Ended by itself; then killed, with an id that no process has; then with one of a machine that cannot be asked, and with one that runs.
        Assert.Equal(TimeSpan.Zero, WaitAfter(static text => text));
        Assert.Equal(TimeSpan.Zero, WaitAfter(static text => WithProcess(text.Replace("e\n", "r\n", StringComparison.Ordinal), int.MaxValue)));
        Assert.NotEqual(TimeSpan.Zero, WaitAfter(static text => text.Replace("e\n", "r\n", StringComparison.Ordinal).Replace("pid:[", "pid:{", StringComparison.Ordinal)));
        Assert.NotEqual(TimeSpan.Zero, WaitAfter(static text => WithProcess(text.Replace("e\n", "r\n", StringComparison.Ordinal), 1)));
        Assert.Equal(length, new FileInfo(FilePath).Length);
    }

    private static string WithProcess(string text, int process) => text[..33] + process.ToString(CultureInfo.InvariantCulture).PadRight(12) + text[45..];

    private TimeSpan WaitAfter(Func<string, string> before)
    {
        File.WriteAllText(FilePath, before(File.ReadAllText(FilePath)));
        using var taken = FolderIncarnation.Take(_temporary.FullPath);
        return taken.Wait;
    }
}
