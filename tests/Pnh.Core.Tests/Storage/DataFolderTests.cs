using System.Diagnostics;
using System.Globalization;
using System.Runtime.Versioning;
using Pnh.Storage.Files;
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

    [Theory]
    [InlineData(0b111_111_111)]
    [InlineData(0b111_111_000)]
    [InlineData(0b111_101_101)]
    public void Open_TheHubsOwn_IsNarrowedWithAllThatItMade(int mode)
    {
        foreach (var path in new[] { _temporary["journal"], _temporary["sandbox"] })
        {
            Directory.CreateDirectory(path);
            File.SetUnixFileMode(path, (UnixFileMode)mode);
        }

        foreach (var path in new[] { _temporary["registry.db"], _temporary["journal/00000001.log"], _temporary["lost+found"] })
        {
            File.WriteAllText(path, "kept");
            File.SetUnixFileMode(path, (UnixFileMode)mode & ~(UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute));
        }

        var foreign = File.GetUnixFileMode(_temporary["lost+found"]);
        File.SetUnixFileMode(_temporary.FullPath, (UnixFileMode)mode);

        using var folder = DataFolder.Open(_temporary.FullPath);

        Assert.Empty(folder.Warnings);
        Assert.Equal(OwnerFile | UnixFileMode.UserExecute, File.GetUnixFileMode(_temporary.FullPath));
        Assert.Equal(OwnerFile | UnixFileMode.UserExecute, File.GetUnixFileMode(_temporary["journal"]));
        Assert.Equal(OwnerFile, File.GetUnixFileMode(_temporary["registry.db"]));
        Assert.Equal(OwnerFile, File.GetUnixFileMode(_temporary["journal/00000001.log"]));
        Assert.Equal(foreign, File.GetUnixFileMode(_temporary["lost+found"]));
        Assert.Equal("kept", File.ReadAllText(_temporary["registry.db"]));
    }

    [RootFactAttribute]
    public void Open_BelongsToAnotherUser_IsRefusedInOneLine()
    {
        using (var change = Process.Start("chown", ["65534", _temporary.FullPath]))
        {
            change.WaitForExit();
        }

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_temporary.FullPath));

        Assert.Contains("belongs to another user (uid 65534)", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [RootFactAttribute]
    public void Open_AFileOfTheHubsBelongsToAnotherUser_IsRefusedInOneLine()
    {
        Directory.CreateDirectory(_temporary["journal"]);
        File.WriteAllText(_temporary["journal/00000001.log"], "planted");
        using (var change = Process.Start("chown", ["65534", _temporary["journal/00000001.log"]]))
        {
            change.WaitForExit();
        }

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_temporary.FullPath));

        Assert.Contains("00000001.log belongs to another user (uid 65534)", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [Fact]
    public void Open_AHolderWasThereBefore_ItsPidIsReplacedAndPrivate()
    {
        File.WriteAllText(_temporary["hub.pid"], "123456789");
        File.SetUnixFileMode(_temporary["hub.pid"], (UnixFileMode)0b110_100_100);

        using var folder = DataFolder.Open(_temporary.FullPath);

        Assert.Equal(Environment.ProcessId.ToString(CultureInfo.InvariantCulture), File.ReadAllText(_temporary["hub.pid"]));
        Assert.Equal(OwnerFile, File.GetUnixFileMode(_temporary["hub.pid"]));
    }

    [Fact]
    public void Open_TheLockCannotBeOpened_IsNotSaidToBeAnotherHub()
    {
        // A program that runs cannot be opened for writing (ETXTBSY): any error but that of a lock that is held.
        File.CreateSymbolicLink(_temporary["hub.lock"], Environment.ProcessPath!);

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_temporary.FullPath));

        Assert.DoesNotContain("another hub", refusal.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(28, "No space left for the journal")]
    [InlineData(30, "The disk of the data folder is read-only")]
    [InlineData(24, "Too many open files, and the journal cannot be opened: raise the hub's limit (ulimit -n")]
    [InlineData(23, "Too many open files on this machine")]
    public void Advice_ErrorThatAnOperatorCanMend_IsNamed(int errno, string words) =>
        Assert.StartsWith(words, FileFault.Advice(new IOException("raw", errno), "the journal"), StringComparison.Ordinal);

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
    public void ReadOrCreateSecretText_MadeReadAgainAndOfBytes_IsTheTextInTheFile()
    {
        using var folder = DataFolder.Open(_temporary.FullPath);
        var file = Path.Combine(_temporary.FullPath, "demo.hs256");
        var made = folder.ReadOrCreateSecretText("demo.hs256");
        Assert.Equal((made, made, 32), (File.ReadAllText(file), folder.ReadOrCreateSecretText("demo.hs256"), made.Length));
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));

        // As older versions made it: 32 bytes, whose text is the secret.
        byte[] bytes = [.. Enumerable.Range(200, 32).Select(static n => (byte)n)];
        File.WriteAllBytes(file, bytes);
        var text = System.Buffers.Text.Base64Url.EncodeToString(bytes);
        Assert.Equal((text, text), (folder.ReadOrCreateSecretText("demo.hs256"), File.ReadAllText(file)));
        File.WriteAllText(file, made + "\n"); // by an editor
        Assert.Equal(made, folder.ReadOrCreateSecretText("demo.hs256"));
        File.WriteAllText(file, "short");
        Assert.Contains("no secret of 32 characters", Assert.Throws<DataFolderException>(() => folder.ReadOrCreateSecretText("demo.hs256")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void ReadOrCreateSecret_NameWithAFolder_Throws()
    {
        using var folder = DataFolder.Open(_temporary.FullPath);

        Assert.Throws<ArgumentException>(() => folder.ReadOrCreateSecret("../console.key", 32));
    }
}
