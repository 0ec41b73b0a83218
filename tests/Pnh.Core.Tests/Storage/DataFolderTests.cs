using System.Globalization;
using System.Runtime.Versioning;
using Pnh.Core.Storage;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

[UnsupportedOSPlatform("windows")]
public sealed class DataFolderTests : IDisposable
{
    private const UnixFileMode OwnerFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Open_FolderMissing_CreatesItForTheOwnerOnly()
    {
        using var folder = DataFolder.Open(_temporary["a/b"]);

        Assert.Equal(OwnerFile | UnixFileMode.UserExecute, File.GetUnixFileMode(folder.FolderPath));
        Assert.Equal(OwnerFile, File.GetUnixFileMode(Path.Combine(folder.FolderPath, "hub.lock")));
    }

    [Fact]
    public void Open_HeldByAnother_IsRefusedNamingFolderAndPid()
    {
        using var first = DataFolder.Open(_temporary.FullPath);

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_temporary.FullPath));

        Assert.Contains(_temporary.FullPath, refusal.Message, StringComparison.Ordinal);
        Assert.Contains(Environment.ProcessId.ToString(CultureInfo.InvariantCulture), refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [Fact]
    public void Open_AfterTheHolderIsGone_Succeeds()
    {
        DataFolder.Open(_temporary.FullPath).Dispose();

        using var second = DataFolder.Open(_temporary.FullPath);

        Assert.Equal(_temporary.FullPath, second.FolderPath);
    }

    [Theory]
    [InlineData("file/data")]
    [InlineData("file")]
    public void Open_PathIsUnderOrIsAFile_IsRefusedInOneLine(string path)
    {
        File.WriteAllText(_temporary["file"], "in the way");

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_temporary[path]));

        Assert.Contains("Pnh:Data", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [Fact]
    public void Open_FolderCannotBeWritten_IsRefused()
    {
        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open("/proc/self/pnh-data"));

        Assert.Contains("cannot be written", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void ReadOrCreateSecret_TwiceAndAfterReopen_IsTheSameAndPrivate()
    {
        byte[] first;
        using (var folder = DataFolder.Open(_temporary.FullPath))
        {
            first = folder.ReadOrCreateSecret("console.key", 32);
            Assert.Equal(first, folder.ReadOrCreateSecret("console.key", 32));
            Assert.NotEqual(first, folder.ReadOrCreateSecret("other.key", 32));
        }

        using var again = DataFolder.Open(_temporary.FullPath);
        Assert.Equal(first, again.ReadOrCreateSecret("console.key", 32));
        Assert.Equal(OwnerFile, File.GetUnixFileMode(_temporary["console.key"]));
        Assert.False(File.Exists(_temporary["console.key.new"]));
    }

    [Fact]
    public void ReadOrCreateSecret_FileWasCut_IsRefused()
    {
        using var folder = DataFolder.Open(_temporary.FullPath);
        File.WriteAllBytes(_temporary["console.key"], new byte[7]);

        var refusal = Assert.Throws<DataFolderException>(() => folder.ReadOrCreateSecret("console.key", 32));

        Assert.Contains("console.key", refusal.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void ReadOrCreateSecret_NameWithAFolder_Throws()
    {
        using var folder = DataFolder.Open(_temporary.FullPath);

        Assert.Throws<ArgumentException>(() => folder.ReadOrCreateSecret("../console.key", 32));
    }
}
