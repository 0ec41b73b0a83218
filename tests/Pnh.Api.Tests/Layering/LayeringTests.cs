using System.Text.RegularExpressions;
using System.Xml.Linq;
using Pnh.Core.Hubs;

namespace Pnh.Api.Tests.Layering;

/// <summary>The house's walls (README, "The house"): who may use whom, over the source tree and the built assembly.</summary>
public sealed partial class LayeringTests
{
    private static readonly string Root = SourceTree.Root;

    [Theory]
    [InlineData("Pnh.Core", "")]
    [InlineData("Pnh.Channels", "Pnh.Core")]
    [InlineData("Pnh.LoadTest", "")]
    [InlineData("Pnh.Sandbox", "")]
    [InlineData("Pnh.Storage", "Pnh.Core")]
    [InlineData("Pnh.Api", "Pnh.Channels,Pnh.Client,Pnh.Core,Pnh.LoadTest,Pnh.Sandbox,Pnh.Storage")]
    public void Project_ReferencesOnlyWhatItMay(string project, string allowed)
    {
        var references = XDocument.Load(Path.Combine(Root, "src", project, project + ".csproj"))
            .Descendants("ProjectReference").Select(r => Path.GetFileNameWithoutExtension((string)r.Attribute("Include")!));
        Assert.Equal(allowed, string.Join(',', references.Order(StringComparer.Ordinal)));
    }

    [Fact]
    public void CoreAssembly_KnowsNoHttpSocketProviderOrDatabase()
    {
        var references = typeof(Hub).Assembly.GetReferencedAssemblies().Select(a => a.Name!).ToList();
        Assert.Contains("System.Runtime", references);
        Assert.DoesNotContain(references, name => ForbiddenInCore().IsMatch(name));
    }

    [Fact]
    public void CoreSources_KnowNoHttpSocketProviderOrDatabase()
    {
        var files = Sources("src/Pnh.Core").ToList();
        Assert.NotEmpty(files);
        Assert.DoesNotContain(files.SelectMany(Namespaces), use => ForbiddenInCore().IsMatch(use.Name));
    }

    [Fact]
    public void Sources_UseOnlyTheProjectsBelow()
    {
        Assert.DoesNotContain(Sources("src/Pnh.Channels").SelectMany(Namespaces), use => Starts(use.Name, "Pnh.Sandbox", "Pnh.Storage", "Pnh.Api"));
        Assert.DoesNotContain(Sources("src/Pnh.Storage").SelectMany(Namespaces), use => Starts(use.Name, "Pnh.Channels", "Pnh.Sandbox", "Pnh.Api"));
        Assert.DoesNotContain(
            Sources("src/Pnh.Sandbox").SelectMany(Namespaces), use => Starts(use.Name, "Pnh.Core", "Pnh.Channels", "Pnh.Storage", "Pnh.Api"));
    }

    [Fact]
    public void LoadTester_IsUsedByTheCommandsOnly()
    {
        // A hub that serves must not load it.
        var users = Sources("src").Where(static file => !file.Contains("Pnh.LoadTest", StringComparison.Ordinal)).Where(static file => Namespaces(file).Any(static use => Starts(use.Name, "Pnh.LoadTest"))).Select(Path.GetFileName);
        Assert.Equal(["BenchCommand.cs", "HubCommands.cs"], users.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void ClientLibrary_IsUsedByTheCommandsOnly() =>
        Assert.Equal(["EventText.cs", "PublisherCommands.cs"], Sources("src").Where(static file => Namespaces(file).Any(static use => Starts(use.Name, "Pnh.Client"))).Select(Path.GetFileName).Order(StringComparer.Ordinal));

    [Fact]
    public void ChannelFolders_UseEachOtherNowhere()
    {
        // What channels share lives in Net/, Provider/, Links/ and Settings/, and beside the folders.
        var channels = Path.Combine(Root, "src", "Pnh.Channels");
        var folders = Directory.GetDirectories(channels).Select(Path.GetFileName).Where(f => f is not ("Net" or "Provider" or "Links" or "Settings" or "bin" or "obj")).ToList();
        var crossings = from folder in folders
                        from file in Sources($"src/Pnh.Channels/{folder}")
                        from use in Namespaces(file)
                        from other in folders
                        where other != folder && Starts(use.Name, $"Pnh.Channels.{other}")
                        select $"{use.File}: {use.Name}";
        Assert.Empty(crossings);

        var shared = new[] { "Net", "Provider", "Links", "Settings" }.SelectMany(static folder => Sources($"src/Pnh.Channels/{folder}"));
        Assert.DoesNotContain(shared.SelectMany(Namespaces), use => folders.Any(folder => Starts(use.Name, $"Pnh.Channels.{folder}")));
    }

    [Fact]
    public void SourceFolders_EachProjectHasAReadme() => Assert.All(
        Directory.GetDirectories(Path.Combine(Root, "src")).Where(p => Sources(Path.GetRelativePath(Root, p)).Skip(1).Any()),
        project => Assert.True(File.Exists(Path.Combine(project, "README.md")), $"{Path.GetFileName(project)} has no README.md"));

    [Fact]
    public void SourceFiles_AtMost300Lines() =>
        Assert.Empty(Sources("src").Where(f => File.ReadLines(f).Skip(300).Any()).Select(f => Path.GetRelativePath(Root, f)));

    [Fact]
    public void SourceNamespaces_FollowTheFolders()
    {
        // The walls above are read from namespaces, so a namespace must say the folder.
        var strays = from file in Sources("src")
                     let folder = Path.GetRelativePath(Path.Combine(Root, "src"), Path.GetDirectoryName(file)!).Replace(Path.DirectorySeparatorChar, '.')
                     let declared = NamespaceLine().Match(File.ReadAllText(file))
                     where declared.Success && declared.Groups[1].Value != folder
                     select $"{Path.GetRelativePath(Root, file)} is in {declared.Groups[1].Value}";
        Assert.Empty(strays);
    }

    private static IEnumerable<string> Sources(string folder) => Directory
        .EnumerateFiles(Path.Combine(Root, folder), "*.cs", SearchOption.AllDirectories)
        .Where(f => !f.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal));

    // Usings and fully qualified names; comments and texts (a meter is called System.Net.Http too) left out.
    private static IEnumerable<(string File, string Name)> Namespaces(string file) =>
        from line in File.ReadLines(file)
        let code = line.TrimStart()
        where !code.StartsWith("//", StringComparison.Ordinal) && !code.StartsWith("namespace ", StringComparison.Ordinal)
        from Match match in QualifiedName().Matches(Text().Replace(code, "\"\""))
        select (Path.GetRelativePath(Root, file), match.Value);

    private static bool Starts(string name, params string[] prefixes) =>
        prefixes.Any(p => name == p || name.StartsWith(p + ".", StringComparison.Ordinal));

    [GeneratedRegex(@"^(Pnh\.(Channels|Sandbox|Storage|Api)|pnh|SQLite|SQLitePCLRaw|Microsoft\.(AspNetCore|Data)|System\.Data|System\.Net\.(Http|WebSockets|Sockets|Security|Quic))(\.|$)")]
    private static partial Regex ForbiddenInCore();

    [GeneratedRegex(@"\b(Pnh|Microsoft|System)(\.\w+)+")]
    private static partial Regex QualifiedName();

    [GeneratedRegex("\"[^\"]*\"")]
    private static partial Regex Text();

    [GeneratedRegex(@"^namespace ([\w.]+)", RegexOptions.Multiline)]
    private static partial Regex NamespaceLine();
}
