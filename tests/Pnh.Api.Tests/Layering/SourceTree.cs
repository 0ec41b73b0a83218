namespace Pnh.Api.Tests.Layering;

/// <summary>The tree that these tests were built from, and the assemblies of its src.</summary>
internal static class SourceTree
{
    /// <summary>The folder of Pnh.slnx.</summary>
    public static string Root { get; } = FindRoot();

    /// <summary>The rooms of all projects in src.</summary>
    public static AssemblyRooms Rooms { get; } = AssemblyRooms.Read("Pnh", Directory
        .EnumerateDirectories(Path.Combine(Root, "src"))
        .Select(static project => Path.GetFileName(project) is "Pnh.Api" ? "pnh" : Path.GetFileName(project))
        .Select(static assembly => Path.Combine(AppContext.BaseDirectory, assembly + ".dll")));

    private static string FindRoot()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Pnh.slnx")))
            {
                return folder.FullName;
            }
        }

        throw new InvalidOperationException("Pnh.slnx is in no folder above the tests.");
    }
}
