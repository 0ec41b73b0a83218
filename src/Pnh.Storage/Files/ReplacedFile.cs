namespace Pnh.Storage.Files;

/// <summary>
/// A small file of the data folder that is written whole: beside and renamed, so that a crash leaves the old or the new; only the owner may read it. Faults are <see cref="IOException"/> and
/// <see cref="UnauthorizedAccessException"/>. For one caller at a time.
/// </summary>
public static class ReplacedFile
{
    /// <summary>The bytes are on stable storage when it returns.</summary>
    public static void Write(string path, ReadOnlySpan<byte> bytes)
    {
        var draft = Draft(path);
        using (var stream = new FileStream(draft, DataFolder.PrivateFile(FileMode.Create)))
        {
            stream.Write(bytes);
            stream.Flush(flushToDisk: true);
        }

        File.Move(draft, path, overwrite: true);
        FolderSync.Flush(Path.GetDirectoryName(path)!);
    }

    /// <summary>The lines, in UTF-8. Not synced: a power cut may leave an empty file.</summary>
    public static void WriteLines(string path, IEnumerable<string> lines)
    {
        var draft = Draft(path);
        using (var writer = new StreamWriter(draft, DataFolder.PrivateFile(FileMode.Create)))
        {
            foreach (var line in lines)
            {
                writer.WriteLine(line);
            }
        }

        File.Move(draft, path, overwrite: true);
    }

    // One that a killed process left may be another's to read.
    private static string Draft(string path)
    {
        var draft = path + ".new";
        File.Delete(draft);
        return draft;
    }
}
