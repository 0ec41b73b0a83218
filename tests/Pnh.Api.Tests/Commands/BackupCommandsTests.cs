using System.Globalization;
using Pnh.Api.Commands;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Commands;

/// <summary><c>pnh backup</c> beside a running hub, and a hub on what <c>pnh restore</c> makes of the copy.</summary>
public sealed class BackupCommandsTests : IDisposable
{
    private readonly TemporaryFolder _data = new();
    private readonly TemporaryFolder _copies = new();

    public void Dispose()
    {
        _data.Dispose();
        _copies.Dispose();
    }

    [Fact]
    public async Task Backup_OnATerminal_ShowsHowFarItIs()
    {
        await using var hub = await TestHub.StartAsync(_data.FullPath);
        using var said = new StringWriter();
        using var terminal = new StringWriter();

        var exitCode = await BackupCommands.BackUpAsync(
            new BackupRequest(_copies["tuesday"], [$"--Pnh:Data={_data.FullPath}"]), new CommandOutput(said, terminal) { IsTerminal = true }, CancellationToken.None);

        Assert.Equal(0, exitCode);
        Assert.Matches(@"copy.*\d+%", terminal.ToString());
        Assert.DoesNotContain("%", said.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Backup_WhileEventsAreAccepted_RestoresToAHubThatHasThemAndGoesOn()
    {
        var accepted = 0;
        await using (var hub = await TestHub.StartAsync(_data.FullPath))
        {
            await hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
            using var stop = new CancellationTokenSource();
            var sending = Task.Run(async () =>
            {
                while (!stop.IsCancellationRequested)
                {
                    Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", $$"""{"id":"e-{{accepted}}","to":{"user":"bea"} }""")).Status);
                    Interlocked.Increment(ref accepted);
                }
            });
            await TestHub.EventuallyAsync(() => Volatile.Read(ref accepted), static n => n >= 50);
            var before = Volatile.Read(ref accepted);

            var (exitCode, said, complaint) = await RunAsync("backup", _copies["monday"]);

            Assert.Equal((0, ""), (exitCode, complaint));
            Assert.Contains(" devices, ", said, StringComparison.Ordinal);
            await stop.CancelAsync();
            await sending;
            Assert.True(accepted >= before);
            accepted = before;
        }

        Assert.Equal(0, (await CommandRun.RunAsync("restore", _copies["monday"], $"--Pnh:Data={_copies["data"]}")).ExitCode);
        Assert.DoesNotContain("hub.pid", Directory.GetFiles(_copies["data"]).Select(Path.GetFileName));
        await using var restored = await TestHub.StartAsync(_copies["data"]);
        for (var n = 0; n < accepted; n++)
        {
            Assert.Equal(200, (await restored.SendAsync("GET", string.Create(CultureInfo.InvariantCulture, $"/v1/events/e-{n}"))).Status);
        }

        using var tablet = await restored.ConnectAsync("bea", "tablet");
        Assert.Equal("e-0", (await tablet.ReceiveEventAsync()).GetProperty("id").GetString());
        Assert.Equal(202, (await restored.SendAsync("POST", "/v1/events", """{"id":"after","to":{"user":"bea"} }""")).Status);
    }

    [Fact]
    [System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
    public async Task BackupAndRestore_IntoEmptyFoldersAndPathsWithASlash_WorkAndAreTheOwnersAlone()
    {
        await using (var hub = await TestHub.StartAsync(_data.FullPath))
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"id":"kept","to":{"user":"ada"} }""")).Status);

            // As a mount point: it is there, and cannot be made by renaming.
            Directory.CreateDirectory(Path.Combine(_copies["mounted"], "lost+found"));
            Assert.Equal((0, ""), Without(await RunAsync("backup", _copies["mounted"] + "/")));
            Assert.Equal((0, ""), Without(await RunAsync("backup", _copies["named"] + "/")));
        }

        Directory.CreateDirectory(Path.Combine(_copies["data"], "lost+found"));
        Assert.Equal((0, ""), Without(await CommandRun.RunAsync("restore", _copies["named"] + "/", $"--Pnh:Data={_copies["data"]}/")));
        Assert.Equal((0, ""), Without(await CommandRun.RunAsync("restore", _copies["mounted"], $"--Pnh:Data={_copies["other"]}/")));
        foreach (var entry in Directory.EnumerateFileSystemEntries(_copies.FullPath, "*", SearchOption.AllDirectories).Where(static entry => !entry.Contains("lost+found", StringComparison.Ordinal)))
        {
            Assert.True(Path.GetDirectoryName(entry) == _copies.FullPath || (File.GetUnixFileMode(entry) & (UnixFileMode)0b111_111) == 0, entry);
        }

        await using var restored = await TestHub.StartAsync(_copies["data"]);
        Assert.Equal(200, (await restored.SendAsync("GET", "/v1/events/kept")).Status);
        Assert.False(File.Exists(Path.Combine(_copies["data"], "backup.list")));
    }

    [Fact]
    public async Task Backup_UnfinishedIsThere_LeavesItAndSaysSo()
    {
        await using var hub = await TestHub.StartAsync(_data.FullPath);
        Directory.CreateDirectory(_copies["one.unfinished"]);
        await File.WriteAllTextAsync(_copies["one.unfinished/mine"], "x");

        var (exitCode, _, complaint) = await RunAsync("backup", _copies["one"]);

        Assert.Equal(1, exitCode);
        Assert.Contains("one.unfinished is there", complaint, StringComparison.Ordinal);
        Assert.True(File.Exists(_copies["one.unfinished/mine"]));
    }

    [Theory]
    [InlineData("link", "is a link or no regular file")]
    [InlineData("journal", "is a link or no regular file")]
    [InlineData("longer", "bytes, and the copy's list")]
    [InlineData("more", "is not in the copy's list")]
    public async Task Restore_CopyThatWasChanged_IsRefusedAndNothingIsMade(string change, string reason)
    {
        await using (await TestHub.StartAsync(_data.FullPath))
        {
            Assert.Equal(0, (await RunAsync("backup", _copies["one"])).ExitCode);
        }

        var secret = _copies["one/operator.secret"];
        switch (change)
        {
            case "link":
                File.Move(secret, _copies["elsewhere"]);
                File.CreateSymbolicLink(secret, _copies["elsewhere"]);
                break;
            case "journal":
                Directory.Move(_copies["one/journal"], _copies["log"]);
                Directory.CreateSymbolicLink(_copies["one/journal"], _copies["log"]);
                break;
            case "longer":
                await using (var grown = new FileStream(secret, FileMode.Open))
                {
                    grown.SetLength(1L << 40);
                }

                break;
            default:
                await File.WriteAllTextAsync(_copies["one/stranger"], "x");
                break;
        }

        var (exitCode, _, complaint) = await CommandRun.RunAsync("restore", _copies["one"], $"--Pnh:Data={_copies["data"]}");

        Assert.Equal(1, exitCode);
        Assert.Contains(reason, complaint, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_copies["data"]) || Directory.Exists(_copies["data.unfinished"]));
    }

    [Fact]
    public async Task Backup_OfNoDataFolder_SaysSo()
    {
        var (exitCode, _, complaint) = await RunAsync("backup", _copies["none"]);
        Assert.Equal(1, exitCode);
        Assert.Contains("has no registry.db and no journal", complaint, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_copies["none"]));
    }

    [Fact]
    public async Task Restore_OverSomething_TouchesNothing()
    {
        await using (await TestHub.StartAsync(_data.FullPath))
        {
            Assert.Equal(0, (await RunAsync("backup", _copies["one"])).ExitCode);
            Assert.Contains("is not empty: move it away first, or give another folder", (await RunAsync("backup", _copies["one"])).Error, StringComparison.Ordinal);
        }

        var before = Directory.GetFiles(_data.FullPath).Length;
        var (exitCode, _, complaint) = await RunAsync("restore", _copies["one"]);
        Assert.Equal(1, exitCode);
        Assert.Contains("is not empty: move it away first", complaint, StringComparison.Ordinal);
        Assert.Equal(before, Directory.GetFiles(_data.FullPath).Length);
    }

    [Fact]
    public async Task Restore_DamagedCopy_IsRefusedWithThePlace()
    {
        await using (var hub = await TestHub.StartAsync(_data.FullPath))
        {
            for (var n = 0; n < 20; n++)
            {
                await hub.SendAsync("POST", "/v1/events", $$"""{"id":"e-{{n}}","to":{"user":"ada"} }""");
            }

            Assert.Equal(0, (await RunAsync("backup", _copies["one"])).ExitCode);
        }

        var segment = Directory.GetFiles(Path.Combine(_copies["one"], "journal"), "*.log").Single();
        var bytes = await File.ReadAllBytesAsync(segment);
        bytes[200] ^= 1;
        await File.WriteAllBytesAsync(segment, bytes);

        var (exitCode, _, complaint) = await CommandRun.RunAsync("restore", _copies["one"], $"--Pnh:Data={_copies["data"]}");
        Assert.Equal(1, exitCode);
        Assert.Contains("is damaged at offset", complaint, StringComparison.Ordinal);
        Assert.False(Directory.Exists(_copies["data"]));
    }

    private static (int, string) Without((int ExitCode, string Out, string Error) run) => (run.ExitCode, run.Error);

    private Task<(int ExitCode, string Out, string Error)> RunAsync(string command, string folder) =>
        CommandRun.RunAsync(command, folder, $"--Pnh:Data={_data.FullPath}");
}
