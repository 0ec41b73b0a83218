using System.Text.RegularExpressions;

namespace Pnh.Api.Tests.Layering;

/// <summary>The READMEs of src and the pages beside the first one speak of the house as it is.</summary>
public sealed partial class ReadmeTests
{
    private const int Lines = 80;

    public static TheoryData<string> Projects => [.. Directory.EnumerateDirectories(Path.Combine(SourceTree.Root, "src")).Select(static folder => Path.GetFileName(folder))];

    [Fact]
    public void Readmes_OfSrc_AreShort() => Assert.All(Readmes(), static readme =>
        Assert.True(File.ReadLines(Path.Combine(SourceTree.Root, readme)).Count() <= Lines, $"{readme} has more than {Lines} lines"));

    [Fact]
    public void Readmes_PathsThatTheyName_AreThere() =>
        Assert.Empty(from readme in Readmes().Concat(["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md", "k8s/README.md", "docs/configure.md"])
                     from path in Paths(readme)
                     where !IsThere(readme, path)
                     select $"{readme} names {path}");

    [Theory]
    [MemberData(nameof(Projects))]
    public void ProjectReadme_ListsItsRooms_InTheOrderOfTheirArrows(string project)
    {
        var rooms = RoomsIn(File.ReadAllText(Path.Combine(SourceTree.Root, "src", project, "README.md"))).Select(room => project + "." + room.Replace('/', '.')).ToList();
        var known = SourceTree.Rooms.Types.Select(static type => type.Room).Distinct().Where(room => room.StartsWith(project + ".", StringComparison.Ordinal));
        Assert.Equal(known.Order(StringComparer.Ordinal), rooms.Order(StringComparer.Ordinal));
        Assert.Empty(SourceTree.Rooms.Arrows.Keys
            .Where(arrow => rooms.Contains(arrow.From) && rooms.Contains(arrow.To) && rooms.IndexOf(arrow.From) > rooms.IndexOf(arrow.To))
            .Select(static arrow => $"{arrow.From} uses {arrow.To}, which stands above it"));
    }

    [Fact]
    public void Readme_Licences_NameEveryPackage()
    {
        var readme = File.ReadAllText(Path.Combine(SourceTree.Root, "README.md"));
        var licences = readme[readme.IndexOf("## Licences", StringComparison.Ordinal)..];
        var packages = PackageVersion().Matches(File.ReadAllText(Path.Combine(SourceTree.Root, "Directory.Packages.props"))).Select(static package => package.Groups[1].Value).ToList();
        Assert.NotEmpty(packages);
        Assert.All(packages, package => Assert.Contains(package, licences, StringComparison.Ordinal));
    }

    [Fact]
    public void EventsWay_EachHop_IsAMethodOfItsFile()
    {
        var hops = Hop().Matches(File.ReadAllText(Path.Combine(SourceTree.Root, "src", "README.md")));
        Assert.InRange(hops.Count, 30, 92);
        Assert.All(hops, static hop => Assert.Matches($@"\b{hop.Groups[2].Value}\(", File.ReadAllText(Path.Combine(SourceTree.Root, "src", hop.Groups[1].Value))));
    }

    private static IEnumerable<string> Readmes() => Directory
        .EnumerateFiles(Path.Combine(SourceTree.Root, "src"), "README.md", SearchOption.AllDirectories)
        .Select(static file => Path.GetRelativePath(SourceTree.Root, file));

    // The first column of the table of folders: `Provider/Sender/`.
    private static IEnumerable<string> RoomsIn(string readme) => RoomRow().Matches(readme).Select(static row => row.Groups[1].Value);

    // Links, and what stands in code with a slash in it and begins like a room, a project or a folder of the root.
    private static IEnumerable<string> Paths(string readme)
    {
        var text = File.ReadAllText(Path.Combine(SourceTree.Root, readme));
        return Link().Matches(text).Concat(PathInCode().Matches(text)).Select(static path => path.Groups[1].Value).Distinct();
    }

    // Counted from the README's folder, its project, src or the root; a type's file may be named without its ending.
    private static bool IsThere(string readme, string path)
    {
        var folder = Path.GetDirectoryName(readme)!;
        string[] from = [folder, string.Join('/', folder.Split('/').Take(2)), "src", ""];
        return from.Select(start => Path.Combine(SourceTree.Root, start, path)).Any(static full => Path.Exists(full) || File.Exists(full + ".cs"));
    }

    [GeneratedRegex("<PackageVersion Include=\"([^\"]+)\"")]
    private static partial Regex PackageVersion();

    [GeneratedRegex(@"^\| `([\w/]+)/` \|", RegexOptions.Multiline)]
    private static partial Regex RoomRow();

    [GeneratedRegex(@"\]\((?![a-z]+:)([^)#]+)\)")]
    private static partial Regex Link();

    [GeneratedRegex(@"^\d+\. `([^`]+)` `(\w+)`", RegexOptions.Multiline)]
    private static partial Regex Hop();

    [GeneratedRegex(@"`((?:[A-Z][\w.]*|src|tests|bench|k8s)/[\w./-]*)`")]
    private static partial Regex PathInCode();
}
