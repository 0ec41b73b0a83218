using System.Diagnostics;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>The page in a real browser against the <see cref="FakeHub"/>: the same script that clicks through the whole hub in CI.</summary>
public sealed class ConsoleBrowserTests
{
    [BrowserFactAttribute]
    public async Task Page_ClickedThroughInChromium_ShowsWhatWasSent()
    {
        await using var host = await ConsoleHost.StartAsync();
        host.Hub.CountTroubles();
        var pictures = Environment.GetEnvironmentVariable("PNH_SCREENSHOTS") ?? Directory.CreateTempSubdirectory("pnh-console").FullName;
        var (exitCode, output) = await RunAsync(BrowserFactAttribute.Folder, "console.mjs", host.Access.CreateLink(host.Address).AbsoluteUri, pictures);
        Assert.True(exitCode == 0, $"console.mjs exit {exitCode}: {output}");
        Assert.NotEmpty(Directory.GetFiles(pictures, "*.png"));
        Assert.Contains("\"class\":\"call\"", host.Hub.LastBody, StringComparison.Ordinal);
        Assert.Equal(3, host.Hub.LastAck);
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
