using System.Runtime.CompilerServices;
using Pnh.TestKit;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>A fact that drives a browser: skipped, by name, without chromium, node or the packages of <c>tests/browser</c>. CI installs them.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class BrowserFactAttribute : FactAttribute
{
    public BrowserFactAttribute([CallerMemberName] string? test = null)
    {
        // CI asks for everything: a missing program must not pass for a passed test.
        if (Environment.GetEnvironmentVariable("PNH_REQUIRE_ALL") == "1")
        {
            return;
        }

        var folders = (Environment.GetEnvironmentVariable("PATH") ?? string.Empty).Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries);
        if (!folders.Any(folder => File.Exists(Path.Combine(folder, "chromium"))) || !folders.Any(folder => File.Exists(Path.Combine(folder, "node"))))
        {
            Skip = "needs chromium and node on PATH";
        }
        else if (!Directory.Exists(Path.Combine(Folder, "node_modules")))
        {
            Skip = "needs `npm ci` in tests/browser";
        }

        DisplayName = Skip is null ? DisplayName : SkippedName.Of(test, Skip);
    }

    /// <summary>The npm project with the script.</summary>
    public static string Folder { get; } = Find();

    private static string Find()
    {
        var folder = new DirectoryInfo(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "Pnh.slnx")))
        {
            folder = folder.Parent;
        }

        return Path.Combine(folder?.FullName ?? throw new DirectoryNotFoundException("Pnh.slnx"), "tests", "browser");
    }
}
