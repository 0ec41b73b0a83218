using System.Text.RegularExpressions;
using Pnh.Api.Documents;
using Pnh.Api.Problems;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Api.Tests.Layering;

namespace Pnh.Api.Tests.Documents;

/// <summary>The documents as a hub serves them.</summary>
public sealed partial class DocumentPagesTests
{
    [Fact]
    public async Task Pages_EveryOne_IsServedAndItsLinksLeadSomewhere()
    {
        await using var hub = await TestHub.StartAsync();
        var pages = new Dictionary<string, string> { ["/docs"] = await ReadAsync(hub, "/docs"), ["/"] = await ReadAsync(hub, "/") };
        foreach (var name in Directory.GetFiles(Path.Combine(SourceTree.Root, "docs"), "*.md").Select(Path.GetFileNameWithoutExtension))
        {
            pages[$"/docs/{name}"] = await ReadAsync(hub, $"/docs/{name}");
        }

        Assert.Equal(DocumentPages.Names.Count + 2, pages.Count);
        foreach (var (address, page) in pages)
        {
            foreach (var link in Link().Matches(page).Select(static match => match.Groups[1].Value).Where(static link => !link.StartsWith("http", StringComparison.Ordinal)))
            {
                var (target, anchor) = link.Split('#') is [var before, var after] ? (before.Length == 0 ? address : before, after) : (link, null);
                Assert.True(pages.TryGetValue(target, out var there), $"{address} links to {link}");
                Assert.True(anchor is null || there!.Contains($"id=\"{anchor}\"", StringComparison.Ordinal), $"{address} links to {link}");
            }
        }
    }

    [Fact]
    public async Task Help_OfEveryProblem_IsAnAnchorOfThePage()
    {
        await using var hub = await TestHub.StartAsync();
        var errors = await ReadAsync(hub, "/docs/errors");
        Assert.All(ProblemCatalogue.All, kind => Assert.Contains($"<h2 id=\"{kind.Help.Split('#')[1]}\">", errors, StringComparison.Ordinal));
        var answer = await hub.SendAsync("GET", "/docs/nothing", credential: "");
        Assert.Equal((404, "/docs/errors#not-found"), (answer.Status, answer.Json.GetProperty("help").GetString()));
    }

    private static async Task<string> ReadAsync(TestHub hub, string path)
    {
        var answer = await hub.SendAsync("GET", path, credential: "");
        Assert.Equal((path, 200, "text/html"), (path, answer.Status, answer.Type));
        return answer.Body;
    }

    [GeneratedRegex("href=\"([^\"]*)\"")]
    private static partial Regex Link();
}
