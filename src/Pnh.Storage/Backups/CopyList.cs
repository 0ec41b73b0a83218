using System.Globalization;
using Pnh.Storage.Files;

namespace Pnh.Storage.Backups;

/// <summary>The files of a copy with their sizes, a line each, as they were when it was made: what is not in it is not restored, and nothing is longer than it says.</summary>
internal sealed class CopyList
{
    /// <summary>Its file, in the copy.</summary>
    public const string Name = "backup.list";

    // A line is some 40 bytes, and a journal has thousands of segments at most.
    private const int MostBytes = 4 * 1024 * 1024;

    private readonly Dictionary<string, long> _sizes = new(StringComparer.Ordinal);

    /// <summary>Null = a copy by a build that made no list.</summary>
    public static CopyList? Read(string copy)
    {
        var path = Path.Combine(copy, Name);
        if (!File.Exists(path))
        {
            return null;
        }

        if (FileOwner.Of(path) is { Kind: not FileOwner.Type.File } || new FileInfo(path).Length > MostBytes)
        {
            throw Changed(path, "is no list of a copy");
        }

        var list = new CopyList();
        foreach (var line in File.ReadLines(path))
        {
            var space = line.IndexOf(' ', StringComparison.Ordinal);
            if (space < 1 || !long.TryParse(line.AsSpan(0, space), NumberStyles.None, CultureInfo.InvariantCulture, out var bytes))
            {
                throw Changed(path, "is no list of a copy");
            }

            list._sizes[line[(space + 1)..]] = bytes;
        }

        return list;
    }

    /// <summary>Of all files of a folder and of the folders in it.</summary>
    public static void Write(string copy) => ReplacedFile.WriteLines(
        Path.Combine(copy, Name),
        new DirectoryInfo(copy).EnumerateFiles("*", SearchOption.AllDirectories)
            .Select(file => string.Create(CultureInfo.InvariantCulture, $"{file.Length} {Path.GetRelativePath(copy, file.FullName)}"))
            .Order(StringComparer.Ordinal).ToList());

    /// <summary>Throws <see cref="DataFolderException"/> unless the list has the file with that size.</summary>
    public void Check(string copy, string file, long bytes)
    {
        if (!_sizes.TryGetValue(Path.GetRelativePath(copy, file), out var listed))
        {
            throw Changed(file, $"is not in the copy's list ({Name})");
        }

        if (listed != bytes)
        {
            throw Changed(file, string.Create(CultureInfo.InvariantCulture, $"has {bytes} bytes, and the copy's list ({Name}) says {listed}"));
        }
    }

    private static DataFolderException Changed(string path, string how) => new($"{path} {how}: the copy was changed since it was made, so it is not restored.");
}
