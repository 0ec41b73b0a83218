using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Stores;

namespace Pnh.Storage.Files;

/// <summary>
/// The folder <c>Pnh:Data</c>, held by this process alone from <see cref="Open"/> to <see cref="Dispose"/>: two hubs writing the same
/// files would lose events. By a lock of the kernel's, and by a number for file systems that grant that lock twice (<see cref="Incarnation"/>).
/// </summary>
public sealed class DataFolder : IDisposable
{
    private const string PidName = "hub.pid";

    private readonly FolderLock _lock;

    private DataFolder(string path, IReadOnlyList<string> warnings, FolderLock @lock, FolderIncarnation incarnation)
    {
        FolderPath = path;
        Warnings = warnings;
        Incarnation = incarnation;
        _lock = @lock;
    }

    /// <summary>Absolute path.</summary>
    public string FolderPath { get; }

    /// <summary>Lines for the log: who else may write to the folder, and what was removed from it.</summary>
    public IReadOnlyList<string> Warnings { get; }

    /// <summary>Whether the folder is still this process's.</summary>
    public FolderIncarnation Incarnation { get; }

    /// <summary>
    /// Creates the folder when missing (mode 0700), narrows what the hub owns to the hub's user, proves that it can be written and takes it. A folder of root's is taken as it is, with a
    /// <see cref="Warnings"/> where others may write. Throws <see cref="DataFolderException"/> when it cannot be created or written, belongs to a third user, holds a file of the hub's that
    /// another user owns or may write, is on a file system without locks, or another hub holds it.
    /// </summary>
    public static DataFolder Open(string path)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        var full = Path.GetFullPath(path);
        try
        {
            CreateFolder(full);
            var warnings = FolderRights.Secure(full);
            var held = FolderLock.TryTake(full)
                ?? throw new DataFolderException($"The data folder {full} is in use by another hub{Holder(full)}: stop that one, or set Pnh:Data to another folder.");
            try
            {
                WriteHolder(full);
                return new DataFolder(full, warnings, held, FolderIncarnation.Take(full));
            }
            catch
            {
                held.Dispose();
                throw;
            }
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw new DataFolderException(
                FileFault.Advice(exception, full) is { } advice
                    ? advice + "."
                    : $"The data folder {full} cannot be written: {exception.Message.TrimEnd('.')}. Give the hub's user the rights to it, or set Pnh:Data to another folder.",
                exception);
        }
    }

    /// <summary>
    /// The secret kept in file <paramref name="name"/>: read, or made at random on the first call (mode 0600, on stable storage before it
    /// is returned). Throws <see cref="DataFolderException"/> when the file cannot be read or has another length.
    /// </summary>
    /// <param name="name">A plain file name.</param>
    /// <param name="bytes">Length of the secret.</param>
    public byte[] ReadOrCreateSecret(string name, int bytes) => ReadOrCreateSecret(FolderPath, name, bytes);

    /// <summary>The same for who has the folder's path alone.</summary>
    internal static byte[] ReadOrCreateSecret(string folder, string name, int bytes)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentOutOfRangeException.ThrowIfLessThan(bytes, 16);
        if (Path.GetFileName(name) != name)
        {
            throw new ArgumentException("A plain file name is needed.", nameof(name));
        }

        var file = Path.Combine(folder, name);
        try
        {
            var secret = File.Exists(file) ? File.ReadAllBytes(file) : WriteSecret(file, RandomNumberGenerator.GetBytes(bytes));
            return secret.Length == bytes
                ? secret
                : throw new DataFolderException($"{file} holds {secret.Length} bytes instead of {bytes}: restore it from a backup, or delete it to get a new secret.");
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw Unusable(file, exception);
        }
    }

    /// <summary>
    /// The same of a secret that people copy, as text (<see cref="SecretText"/>). A file of an older version, which holds bytes, is written anew with the same secret.
    /// </summary>
    /// <param name="name">A plain file name.</param>
    public string ReadOrCreateSecretText(string name)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        var file = Path.Combine(FolderPath, name);
        try
        {
            var kept = File.Exists(file) ? File.ReadAllBytes(file) : WriteSecret(file, Encoding.ASCII.GetBytes(SecretText.Create()));
            var secret = SecretText.Read(kept);
            if (secret.Length < SecretText.Fewest)
            {
                throw new DataFolderException($"{file} holds no secret of {SecretText.Fewest} characters: restore it from a backup, or delete it to get a new one.");
            }

            if (!SecretText.IsText(kept))
            {
                WriteSecret(file, Encoding.ASCII.GetBytes(secret));
            }

            return secret;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            throw Unusable(file, exception);
        }
    }

    /// <summary>The id of the process that took the folder last, if it still runs; null = nobody does, or the folder cannot be read. Takes no lock.</summary>
    public static int? FindHolder(string path) => ReadHolder(path) is { } id && IsRunning(id) ? id : null;

    /// <summary>What is said of a file of the folder that cannot be read or written.</summary>
    public static DataFolderException Unusable(string file, Exception fault)
    {
        ArgumentNullException.ThrowIfNull(fault);
        return new(
            FileFault.Advice(fault, file) is { } advice
                ? advice + "."
                : $"{file} cannot be used: {fault.Message.TrimEnd('.')}. Give the hub's user the rights to it.",
            fault);
    }

    /// <summary>Lets go of the folder.</summary>
    public void Dispose()
    {
        Incarnation.Dispose();
        _lock.Dispose();
    }

    /// <summary>Whether a process of this machine has that id.</summary>
    internal static bool IsRunning(int process)
    {
        try
        {
            using var found = Process.GetProcessById(process);
            return true;
        }
        catch (ArgumentException)
        {
            return false;
        }
    }

    /// <summary>Options of a file that only its owner may read.</summary>
    internal static FileStreamOptions PrivateFile(FileMode mode)
    {
        var options = new FileStreamOptions { Mode = mode, Access = FileAccess.ReadWrite, Share = FileShare.None };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = FolderRights.OwnerFile;
        }

        return options;
    }

    private static void CreateFolder(string path)
    {
        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(path);
        }
        else
        {
            Directory.CreateDirectory(path, FolderRights.OwnerFolder);
        }
    }

    /// <summary>Who holds it, for people and for messages: a hub on a full disk starts without.</summary>
    private static void WriteHolder(string folder)
    {
        var options = PrivateFile(FileMode.OpenOrCreate);
        options.Share = FileShare.ReadWrite;
        options.BufferSize = 0;
        using var file = new FileStream(Path.Combine(folder, PidName), options);
        if (!OperatingSystem.IsWindows())
        {
            File.SetUnixFileMode(file.SafeFileHandle, FolderRights.OwnerFile);
        }

        file.SetLength(0);
        try
        {
            file.Write(Encoding.ASCII.GetBytes(Environment.ProcessId.ToString(CultureInfo.InvariantCulture)));
        }
        catch (IOException fault) when (fault.HResult == FileFault.NoSpace)
        {
            file.SetLength(0);
        }
    }

    private static string Holder(string folder) => ReadHolder(folder) is { } process ? string.Create(CultureInfo.InvariantCulture, $" (pid {process})") : string.Empty;

    // From the file beside the lock: the lock file itself cannot be read while it is held.
    private static int? ReadHolder(string folder)
    {
        try
        {
            return int.TryParse(File.ReadAllText(Path.Combine(folder, PidName)), CultureInfo.InvariantCulture, out var process) ? process : null;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static byte[] WriteSecret(string file, byte[] secret)
    {
        ReplacedFile.Write(file, secret);
        return secret;
    }
}
