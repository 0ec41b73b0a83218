using System.Diagnostics;
using System.Text;
using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The program as a process of its own, for what is one per process.</summary>
public sealed class ProgramStartTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Fact]
    public async Task Start_WithoutTimeZones_Warns()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        var zones = folder.CreateSubdirectory("zones");

        var without = await StartAsync(folder.FullName, zones.FullName, until: "time zones in");
        var with = await StartAsync(folder.FullName, null, until: "curl");

        Assert.Contains($"no time zones in {zones.FullName}", without, StringComparison.Ordinal);
        Assert.DoesNotContain("no time zones", with, StringComparison.Ordinal);
        folder.Delete(recursive: true);
    }

    [Fact]
    public async Task Start_OutputRedirected_PrintsALinkOnLoopbackWithoutHostNamesOnly()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        string[] shop = ["--Pnh:Apps:shop:Keys:0:Secret=0123456789abcdef", "--Pnh:Apps:shop:Keys:0:Scopes=admin"];

        var demo = await StartAsync(folder.FullName, null, until: "curl");
        var here = await StartAsync(folder.FullName, null, until: "ticket", shop);
        var elsewhere = await StartAsync(folder.FullName, null, until: "pnh console", [.. shop, "--Pnh:OperationsUrls=http://0.0.0.0:0"]);
        var proxied = await StartAsync(folder.FullName, null, until: "pnh console", [.. shop, "--Pnh:Console:HostNames=hub.internal"]);

        Assert.Matches(@"http://127\.0\.0\.1:\d+/console\?ticket=\S{43}\s", demo);
        Assert.Contains("/console?ticket=", here, StringComparison.Ordinal);
        Assert.All([elsewhere, proxied], static said => Assert.Matches(@"Console: http://\S+:\d+/console\s", said));
        Assert.All([elsewhere, proxied], static said => Assert.DoesNotContain("ticket", said, StringComparison.Ordinal));
        folder.Delete(recursive: true);
    }

    /// <summary>128 of a user is all there are by default, and the start fails without one that it asks for.</summary>
    [Fact]
    public async Task Start_TakesNoInotifyInstance()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        var taken = new List<string?>();
        await StartAsync(folder.FullName, null, until: "curl", inspect: hub => taken.AddRange(
            Directory.GetFiles($"/proc/{hub.Id}/fd").Select(static file => new FileInfo(file).LinkTarget)));

        Assert.Contains(taken, static target => target?.EndsWith("registry.db", StringComparison.Ordinal) == true);
        Assert.DoesNotContain(taken, static target => target?.Contains("inotify", StringComparison.Ordinal) == true);
        folder.Delete(recursive: true);
    }

    [Theory]
    [InlineData(0, "is not a PNH database")]
    [InlineData(100, "registry.db is damaged")]
    [InlineData(4_096, "registry.db is damaged")]
    public async Task Start_RegistryIsDamaged_IsOneLineAndExitCode1(int from, string words)
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        await using (var hub = await TestHub.StartAsync(folder.FullName))
        {
            Assert.Equal(201, (await hub.SendAsync("PUT", "/v1/users/u/devices/d", """{"platform":"web"}""")).Status);
        }

        var registry = Path.Combine(folder.FullName, "registry.db");
        var bytes = await File.ReadAllBytesAsync(registry);
        bytes.AsSpan(from).Fill(0xA5);
        await File.WriteAllBytesAsync(registry, bytes);
        var (code, lines) = await ProgramRun.RunAsync(TestHub.Tokens(folder.FullName), ("TZ", "UTC"));

        Assert.Equal(1, code);
        Assert.Contains(words, Assert.Single(lines), StringComparison.Ordinal);
        folder.Delete(recursive: true);
    }

    [RootFact]
    public async Task Start_DataFolderOfAnotherUser_IsOneLineAndExitCode1()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        using (var change = Process.Start("chown", ["65534", folder.FullName]))
        {
            await change.WaitForExitAsync();
        }

        var (code, lines) = await ProgramRun.RunAsync(TestHub.Tokens(folder.FullName), ("TZ", "UTC"));

        Assert.Equal(1, code);
        Assert.Contains("chmod 700", Assert.Single(lines), StringComparison.Ordinal);
        folder.Delete(recursive: true);
    }

    /// <summary>What the hub says up to a text; then it is ended.</summary>
    private static async Task<string> StartAsync(string folder, string? zones, string until, string[]? configuration = null, Action<Process>? inspect = null)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, "pnh"), [.. TestHub.Tokens(Path.Combine(folder, "data")), .. configuration ?? []])
        {
            RedirectStandardOutput = true,
        };
        if (zones is not null)
        {
            start.Environment["TZDIR"] = zones;
        }

        using var patience = new CancellationTokenSource(Patience);
        using var hub = Process.Start(start)!;
        var said = new StringBuilder();
        try
        {
            while (!said.ToString().Contains(until, StringComparison.Ordinal)
                && await hub.StandardOutput.ReadLineAsync(patience.Token) is { } line)
            {
                said.AppendLine(line);
            }

            inspect?.Invoke(hub);
        }
        finally
        {
            hub.Kill();
            await hub.WaitForExitAsync(patience.Token);
        }

        return said.ToString();
    }
}
