using System.Diagnostics;
using System.Runtime.Versioning;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Files;
using Pnh.Storage.Registry;
using Pnh.Storage.Segments;
using Pnh.TestKit;

namespace Pnh.Core.Tests.Storage;

/// <summary>What stands in the data folder in place of the hub's files: links, pipes, folders, files that are too large.</summary>
[SupportedOSPlatform("linux")]
public sealed class OpenFolderTests : IDisposable
{
    private const long ThreeGigabytes = 3L << 30;

    private readonly TemporaryFolder _folder = new();
    private readonly TemporaryFolder _elsewhere = new();

    public void Dispose()
    {
        _folder.Dispose();
        _elsewhere.Dispose();
    }

    [Theory(Timeout = 60_000)]
    [InlineData("link")]
    [InlineData("pipe")]
    [InlineData("large")]
    [InlineData("folder")]
    [InlineData("linked-folder")]
    public async Task Journal_NoTableOfUsersButSomethingElse_StartsAndTouchesNothingElse(string kind)
    {
        var victim = _elsewhere["victim"];
        await File.WriteAllTextAsync(victim, "precious");
        var users = _folder["journal/users"];
        if (kind == "linked-folder")
        {
            Directory.CreateDirectory(_folder["journal"]);
            Directory.CreateSymbolicLink(users, _elsewhere.FullPath);
        }
        else
        {
            Directory.CreateDirectory(users);
            Plant(kind, Path.Combine(users, "00000001.log.users"), victim);
        }

        for (var start = 0; start < 2; start++)
        {
            using var folder = DataFolder.Open(_folder.FullPath);
            Assert.Equal(start == 0 && kind is ("link" or "pipe" or "linked-folder") ? 1 : 0, folder.Warnings.Count);
            await using var journal = SegmentJournal.Open(_folder.FullPath, TimeProvider.System, new JournalOptions { SegmentBytes = 256 * 1024 });
            await FillAsync(journal, start);
            Assert.NotEmpty((await journal.ReadUserAsync("app", "ada", null, 10, default)).Events);
        }

        Assert.Equal("precious", await File.ReadAllTextAsync(victim));
        Assert.Equal([victim], Directory.GetFiles(_elsewhere.FullPath));
    }

    // While the hub has the folder: nobody looks at all of it again.
    [Theory(Timeout = 60_000)]
    [InlineData("link")]
    [InlineData("pipe")]
    [InlineData("large")]
    public async Task Journal_TableOfUsersIsReplacedWhileItRuns_IsMadeAgain(string kind)
    {
        var victim = _elsewhere["victim"];
        await File.WriteAllTextAsync(victim, "precious");
        await using var journal = SegmentJournal.Open(_folder.FullPath, TimeProvider.System, new JournalOptions { SegmentBytes = 256 * 1024 });
        await FillAsync(journal, 0);
        foreach (var table in Directory.GetFiles(_folder["journal/users"]).Append(_folder["journal/users/00000003.log.users"]))
        {
            File.Delete(table);
            Plant(kind, table, victim);
        }

        await FillAsync(journal, 1);
        Assert.NotEmpty((await journal.ReadUserAsync("app", "ada", null, 10, default)).Events);
        Assert.Equal("precious", await File.ReadAllTextAsync(victim));
    }

    [Theory]
    [InlineData("journal/00000001.log", "link")]
    [InlineData("journal/00000001.log", "pipe")]
    [InlineData("journal/manifest", "link")]
    [InlineData("journal/quarantine", "link")]
    [InlineData("registry.db", "pipe")]
    [InlineData("registry.db-wal", "pipe")]
    [InlineData("registry.db-shm", "linked-pipe")]
    [InlineData("demo.key", "pipe")]
    [InlineData("gone.key", "pipe")]
    public void Folder_NoFileOfTheHubs_IsRefusedInOneLine(string name, string kind)
    {
        Directory.CreateDirectory(_folder["journal"]);
        Plant(kind, _folder[name], _elsewhere["nowhere"]);

        var refusal = Assert.Throws<DataFolderException>(() => DataFolder.Open(_folder.FullPath));

        Assert.Contains($"{_folder[name]} is neither a file nor a folder", refusal.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', refusal.Message);
    }

    [Theory]
    [InlineData("hub.pid")]
    [InlineData("hub.lock")]
    [InlineData("hub.incarnation")]
    [InlineData("hub.clock")]
    public void Folder_PipeInPlaceOfWhatIsMadeAgain_IsReplacedWithALine(string name)
    {
        Plant("pipe", _folder[name], _elsewhere["nowhere"]);
        using var folder = DataFolder.Open(_folder.FullPath);
        Assert.Contains(_folder[name], Assert.Single(folder.Warnings), StringComparison.Ordinal);
    }

    // That is the choice of the hub's user.
    [Fact(Timeout = 60_000)]
    public async Task Folder_LinksAtItsTopLevel_AreFollowed()
    {
        Directory.CreateDirectory(_elsewhere["log"]);
        Directory.CreateSymbolicLink(_folder["journal"], _elsewhere["log"]);
        await File.WriteAllBytesAsync(_elsewhere["registry"], []);
        File.CreateSymbolicLink(_folder["registry.db"], _elsewhere["registry"]);
        using var folder = DataFolder.Open(_folder.FullPath);
        Assert.Empty(folder.Warnings);
        await using var journal = SegmentJournal.Open(_folder.FullPath, TimeProvider.System, null);
        await using var registry = SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System);
        Assert.NotEqual(0, new FileInfo(_elsewhere["registry"]).Length);
        Assert.NotEmpty(Directory.GetFiles(_elsewhere["log"]));
    }

    [Theory]
    [InlineData("registry.db")]
    [InlineData("registry.db-wal")]
    public void Registry_Pipe_IsRefusedBeforeItIsOpened(string name)
    {
        Plant("pipe", _folder[name], _elsewhere["nowhere"]);
        var refusal = Assert.Throws<DataFolderException>(() => SqliteDeviceStore.Open(_folder.FullPath, TimeProvider.System));
        Assert.Contains("is no regular file", refusal.Message, StringComparison.Ordinal);
    }

    private static async Task FillAsync(SegmentJournal journal, int run)
    {
        var padding = new string('x', 100_000);
        for (var i = 0; i < 8; i++)
        {
            var id = $"e{run}-{i}";
            var now = TimeProvider.System.GetUtcNow();
            await journal.AppendAsync(
                new Event { App = "app", Id = id, To = EventTarget.ToUser("ada"), AcceptedAt = now, ExpiresAt = now.AddHours(1), Body = Encoding.UTF8.GetBytes(padding) }, default);
            journal.Note(new Milestone("app", id, EventClass.Message, MilestoneKind.Settled, now) { User = "ada", Device = "phone", State = "acked" });
            await journal.FlushAsync(default);
        }
    }

    private static void Plant(string kind, string path, string target)
    {
        switch (kind)
        {
            case "link":
                File.CreateSymbolicLink(path, target);
                break;
            case "folder":
                Directory.CreateDirectory(path);
                break;
            case "large":
                using (var file = File.Create(path))
                {
                    file.SetLength(ThreeGigabytes);
                }

                break;
            case "linked-pipe":
                MakePipe(target);
                File.CreateSymbolicLink(path, target);
                break;
            default:
                MakePipe(path);
                break;
        }
    }

    private static void MakePipe(string path)
    {
        using var made = Process.Start("mkfifo", [path]);
        made.WaitForExit();
        Assert.Equal(0, made.ExitCode);
    }
}
