namespace Pnh.Api.Tests.Layering;

/// <summary>The rooms (a room is a project's folder, and its namespace): few files each, arrows one way, one name one type.</summary>
public sealed partial class LayeringTests
{
    private const int FilesOfARoom = 24;
    private const int LinesOfAType = 600;

    // Longer than LinesOfAType, over all their parts: how long they may be, and why they are.
    private static readonly Dictionary<string, (int Lines, string Why)> LongTypes = new(StringComparer.Ordinal)
    {
        ["Pnh.Channels/Net/Http2/Http2Connection"] = (1240, "one connection's state, read and written by one thread; RFC 9113 in parts"),
    };

    private static readonly AssemblyRooms Rooms = SourceTree.Rooms;

    [Fact]
    public void Rooms_UseEachOther_OneWay()
    {
        // The reader sees the house at all: its top uses its middle.
        Assert.Contains(("Pnh.Api.Hosting", "Pnh.Core.Hubs"), Rooms.Arrows.Keys);
        Assert.Empty(Rooms.Circles().Select(Rooms.Describe));
    }

    [Fact]
    public void Rooms_AreTheFoldersOfSrc()
    {
        // A Program.cs is statements, and its type has no namespace.
        var folders = Sources("src")
            .Where(static file => Path.GetFileName(file) != "Program.cs")
            .Select(static file => Path.GetDirectoryName(Path.GetRelativePath(Path.Combine(Root, "src"), file))!.Replace(Path.DirectorySeparatorChar, '.'))
            .Distinct().Order(StringComparer.Ordinal);

        // None is missing among those that are read, so that the test of circles is about all of src.
        Assert.Equal(folders, Rooms.Types.Select(static type => type.Room).Distinct().Order(StringComparer.Ordinal));
    }

    [Fact]
    public void Rooms_HoldFewFiles() => Assert.Empty(Sources("src")
        .GroupBy(static file => Path.GetRelativePath(Root, Path.GetDirectoryName(file)!))
        .Where(static room => room.Count() > FilesOfARoom)
        .Select(static room => $"{room.Key} holds {room.Count()} files, {FilesOfARoom} at most"));

    [Fact]
    public void Types_TopLevelNames_AreGivenOnce() => Assert.Empty(Rooms.Types
        .GroupBy(static type => type.Name, StringComparer.Ordinal)
        .Where(static name => name.Count() > 1)
        .Select(static name => $"{name.Key} is a type in {string.Join(" and ", name.Select(static type => type.Room))}"));

    [Fact]
    public void Types_OverAllTheirParts_AtMost600Lines()
    {
        // The parts of a type stand in files that begin with its name.
        var lines = Sources("src")
            .GroupBy(static file => Path.Combine(Path.GetDirectoryName(file)!, Path.GetFileName(file).Split('.')[0]))
            .ToDictionary(
                static type => Path.GetRelativePath(Path.Combine(Root, "src"), type.Key).Replace(Path.DirectorySeparatorChar, '/'),
                static type => type.Sum(static file => File.ReadLines(file).Count()));
        Assert.Empty(lines
            .Where(static type => type.Value > (LongTypes.TryGetValue(type.Key, out var known) ? known.Lines : LinesOfAType))
            .Select(static type => $"{type.Key} has {type.Value} lines"));

        // A type that has become short leaves the list.
        Assert.All(LongTypes.Keys, type => Assert.True(lines.GetValueOrDefault(type) > LinesOfAType, $"{type} is no long type"));
    }
}
