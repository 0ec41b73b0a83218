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
            Assert.Contains("exists: give a folder that does not", (await RunAsync("backup", _copies["one"])).Error, StringComparison.Ordinal);
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

    private Task<(int ExitCode, string Out, string Error)> RunAsync(string command, string folder) =>
        CommandRun.RunAsync(command, folder, $"--Pnh:Data={_data.FullPath}");
}
