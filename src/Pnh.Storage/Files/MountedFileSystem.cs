namespace Pnh.Storage.Files;

/// <summary>The file system that a folder is on, as the kernel lists it (proc_pid_mountinfo(5)).</summary>
/// <param name="Kind">Its type, such as <c>ext4</c> or <c>nfs4</c>.</param>
/// <param name="At">Where it is mounted.</param>
internal readonly record struct MountedFileSystem(string Kind, string At)
{
    private const string List = "/proc/self/mountinfo";

    /// <summary>Null where the system does not say. Links in the path are not followed.</summary>
    public static MountedFileSystem? Of(string folder)
    {
        try
        {
            return Of(folder, File.ReadLines(List));
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    /// <summary>The same of a list. The last line of the longest mount point counts: it lies over those before it.</summary>
    internal static MountedFileSystem? Of(string folder, IEnumerable<string> lines)
    {
        MountedFileSystem? found = null;
        foreach (var line in lines)
        {
            var fields = line.Split(' ');
            var dash = Array.IndexOf(fields, "-");
            if (dash < 5 || dash + 1 >= fields.Length)
            {
                continue;
            }

            var at = Unescaped(fields[4]);
            if (IsBelow(folder, at) && at.Length >= (found?.At.Length ?? 0))
            {
                found = new MountedFileSystem(fields[dash + 1], at);
            }
        }

        return found;
    }

    private static bool IsBelow(string folder, string at) =>
        folder.StartsWith(at, StringComparison.Ordinal) && (folder.Length == at.Length || at.EndsWith('/') || folder[at.Length] == '/');

    private static string Unescaped(string text) =>
        text.Replace(@"\040", " ", StringComparison.Ordinal).Replace(@"\011", "\t", StringComparison.Ordinal).Replace(@"\012", "\n", StringComparison.Ordinal).Replace(@"\134", @"\", StringComparison.Ordinal);
}
