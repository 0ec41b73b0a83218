using System.Text;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Credentials;

/// <summary>Files only their owner may read, written whole or not at all.</summary>
internal static class PrivateFile
{
    private const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    public static void CreateFolder(string folder)
    {
        try
        {
            if (OperatingSystem.IsWindows())
            {
                Directory.CreateDirectory(folder);
            }
            else
            {
                Directory.CreateDirectory(folder, OwnerOnly | UnixFileMode.UserExecute);
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SandboxException($"The folder {folder} cannot be made: {e.Message} Choose another folder for the sandbox.", e);
        }
    }

    /// <summary>The text, or null when there is no such file. A file that others may read is closed to them.</summary>
    public static string? Read(string path)
    {
        if (!File.Exists(path))
        {
            return null;
        }

        try
        {
            if (!OperatingSystem.IsWindows() && File.GetUnixFileMode(path) != OwnerOnly)
            {
                File.SetUnixFileMode(path, OwnerOnly);
            }

            return File.ReadAllText(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SandboxException($"{path} cannot be read: {e.Message}", e);
        }
    }

    public static void Write(string path, string text)
    {
        FileStreamOptions options = new() { Mode = FileMode.Create, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = OwnerOnly;
        }

        string draft = path + ".new";
        try
        {
            // A draft left by a crash may carry another mode: the mode only counts when the file is created.
            File.Delete(draft);
            using (FileStream stream = new(draft, options))
            {
                stream.Write(Encoding.UTF8.GetBytes(text));
                stream.Flush(flushToDisk: true);
            }

            File.Move(draft, path, overwrite: true);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new SandboxException($"{path} cannot be written: {e.Message}", e);
        }
    }

    public static SandboxException Damaged(string path, Exception e) =>
        new($"{path} is damaged. Delete it: the next start makes a new one.", e);
}
