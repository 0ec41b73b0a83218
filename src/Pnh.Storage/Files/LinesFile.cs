using System.Text;

namespace Pnh.Storage.Files;

/// <summary>A small text file of the data folder that is written whole.</summary>
public static class LinesFile
{
    /// <summary>
    /// Writes the lines (ASCII) beside the file and renames, so that a crash leaves the old or the new; only the owner may read it. Not synced. Faults are <see cref="IOException"/> and
    /// <see cref="UnauthorizedAccessException"/>. For one caller at a time.
    /// </summary>
    public static void Replace(string path, IEnumerable<string> lines)
    {
        var draft = path + ".new";
        using (var writer = new StreamWriter(draft, Encoding.ASCII, DataFolder.PrivateFile(FileMode.Create)))
        {
            foreach (var line in lines)
            {
                writer.WriteLine(line);
            }
        }

        File.Move(draft, path, overwrite: true);
    }
}
