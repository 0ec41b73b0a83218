using System.Diagnostics;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Console;

/// <summary>The page in a real browser against the <see cref="FakeHub"/>: the same script that clicks through the whole hub in CI.</summary>
public sealed class ConsoleBrowserTests
{
    [RequiresFact("chromium")]
    public async Task Page_ClickedThroughInChromium_ShowsWhatWasSent()
    {
        var folder = FindBrowserFolder();
        if (!Directory.Exists(Path.Combine(folder, "node_modules")))
        {
            // CI runs `npm ci` there first; without it there is nothing to drive the browser with.
            return;
        }

        await using var host = await ConsoleHost.StartAsync();
        host.Hub.CountTroubles();
        var pictures = Environment.GetEnvironmentVariable("PNH_SCREENSHOTS") ?? Directory.CreateTempSubdirectory("pnh-console").FullName;
        var (exitCode, output) = await RunAsync(folder, "console.mjs", host.Access.CreateLink(host.Address).AbsoluteUri, pictures);
        Assert.True(exitCode == 0, $"console.mjs exit {exitCode}: {output}");
        Assert.NotEmpty(Directory.GetFiles(pictures, "*.png"));
        Assert.Contains("message", host.Hub.LastBody, StringComparison.Ordinal);
    }

    private static string FindBrowserFolder()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Pnh.slnx")))
        {
            folder = folder.Parent;
        }

        return Path.Combine(folder?.FullName ?? throw new DirectoryNotFoundException("Pnh.slnx"), "tests", "browser");
    }

    private static async Task<(int ExitCode, string Output)> RunAsync(string folder, params string[] arguments)
    {
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(120));
        using var node = Process.Start(new ProcessStartInfo("node", arguments)
        {
            WorkingDirectory = folder,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        try
        {
            var output = node.StandardOutput.ReadToEndAsync(limit.Token);
            var errors = node.StandardError.ReadToEndAsync(limit.Token);
            await node.WaitForExitAsync(limit.Token);
            return (node.ExitCode, await output + await errors);
        }
        finally
        {
            if (!node.HasExited)
            {
                node.Kill(entireProcessTree: true);
            }
        }
    }
}
