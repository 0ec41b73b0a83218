using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Win32.SafeHandles;

namespace Pnh.Storage.Files;

/// <summary>
/// Which hub has the data folder, in a file of fixed length that each start rewrites in place. Some network file systems grant one lock to two machines: then the hub that came first finds
/// the other's number here, and is lost. Thread-safe.
/// </summary>
/// <remarks>
/// The hub that comes later writes its number, waits, and only then reads the folder; the hub that has it looks before and after each sync, so what it answers is read by the later one.
/// </remarks>
public sealed class FolderIncarnation : IDisposable
{
    private const string Name = "hub.incarnation";
    private const int NumberBytes = 32;
    private const int ProcessBytes = 12;
    private const int PlaceBytes = 64;
    private const int Bytes = NumberBytes + ProcessBytes + PlaceBytes + 4;
    private const char Running = 'r';
    private const char Ended = 'e';

    // The hub that had it looks each second.
    private static readonly TimeSpan Notice = TimeSpan.FromSeconds(1.5);

    private readonly string _path;
    private readonly byte[] _own = new byte[Bytes];
    private readonly FileStream _stream;
    private readonly SafeFileHandle _file;
    private volatile bool _isLost;

    private FolderIncarnation(string folder)
    {
        _path = Path.Combine(folder, Name);
        Write(_own, RandomNumberGenerator.GetHexString(NumberBytes, lowercase: true), Running);
        _stream = Open(_path);
        _file = _stream.SafeFileHandle;
    }

    /// <summary>How long to leave the folder alone after it was taken, so that the hub before notices. Zero = that one has ended.</summary>
    public TimeSpan Wait { get; private set; }

    /// <summary>True from the moment at which another hub has written its number. One read of a cached block.</summary>
    public bool IsLost
    {
        get
        {
            if (!_isLost && IsOther(_file))
            {
                _isLost = true;
            }

            return _isLost;
        }
    }

    /// <summary>The same by the folder's name, as a network file system may answer an open file from its own memory. A file that is gone, or that a full disk refused, is written again.</summary>
    public bool Look()
    {
        if (IsLost)
        {
            return true;
        }

        try
        {
            using var stream = Open(_path);
            var file = stream.SafeFileHandle;
            if (IsOther(file))
            {
                _isLost = true;
            }
            else if (Read(file, stackalloc byte[Bytes]) is >= 0 and < Bytes)
            {
                RandomAccess.Write(file, _own, 0);
            }
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            // A disk that fails says so where the hub needs it.
        }

        return _isLost;
    }

    /// <summary>Says that the folder is let go, unless it is another's.</summary>
    public void Dispose()
    {
        if (!_file.IsClosed && !IsLost)
        {
            _own[Bytes - 2] = (byte)Ended;
            TryWrite();
        }

        _stream.Dispose();
    }

    /// <summary>For the holder of the folder's lock.</summary>
    internal static FolderIncarnation Take(string folder)
    {
        var taken = new FolderIncarnation(folder);
        try
        {
            Span<byte> former = stackalloc byte[Bytes];
            var mayRun = Read(taken._file, former) == Bytes && MayRun(Encoding.ASCII.GetString(former));
            taken.Wait = mayRun ? Notice : TimeSpan.Zero;
            taken.TryWrite();
            return taken;
        }
        catch
        {
            taken._stream.Dispose();
            throw;
        }
    }

    private static FileStream Open(string path)
    {
        var options = DataFolder.PrivateFile(FileMode.OpenOrCreate);
        options.Share = FileShare.ReadWrite | FileShare.Delete;
        options.BufferSize = 0;
        return new FileStream(path, options);
    }

    // -1 = it cannot be read, and may be another's.
    private static int Read(SafeFileHandle file, Span<byte> bytes)
    {
        try
        {
            return RandomAccess.Read(file, bytes, 0);
        }
        catch (IOException)
        {
            return -1;
        }
    }

    private bool IsOther(SafeFileHandle file)
    {
        Span<byte> found = stackalloc byte[Bytes];
        return Read(file, found) == Bytes && !found[..NumberBytes].SequenceEqual(_own.AsSpan(0, NumberBytes));
    }

    // A full disk does not stop a start: the next look tries again.
    private void TryWrite()
    {
        try
        {
            RandomAccess.Write(_file, _own, 0);
            RandomAccess.FlushToDisk(_file);
        }
        catch (IOException)
        {
            // See above.
        }
    }

    private static void Write(Span<byte> bytes, string number, char state)
    {
        var text = string.Create(CultureInfo.InvariantCulture, $"{number} {Environment.ProcessId,-ProcessBytes} {Place(),-PlaceBytes}{state}\n");
        Encoding.ASCII.GetBytes(text, bytes);
    }

    /// <summary>False when the hub before ended by itself, or was a process here that is gone.</summary>
    private static bool MayRun(string former)
    {
        if (former[Bytes - 2] != Running)
        {
            return false;
        }

        var isHere = former.AsSpan(NumberBytes + ProcessBytes + 2, PlaceBytes).TrimEnd().SequenceEqual(Place());
        return !isHere || !int.TryParse(former.AsSpan(NumberBytes + 1, ProcessBytes), CultureInfo.InvariantCulture, out var process)
            || (process != Environment.ProcessId && DataFolder.IsRunning(process));
    }

    /// <summary>Where a process id means the same: this start of the machine, and the namespace of its processes.</summary>
    private static string Place()
    {
        try
        {
            var machine = File.ReadAllText("/proc/sys/kernel/random/boot_id").Trim();
            var processes = File.ResolveLinkTarget("/proc/self/ns/pid", returnFinalTarget: false)?.Name ?? string.Empty;
            var place = $"{machine} {processes}";
            return place.Length > PlaceBytes ? place[..PlaceBytes] : place;
        }
        catch (Exception fault) when (fault is IOException or UnauthorizedAccessException)
        {
            return Environment.MachineName is { Length: <= PlaceBytes } name ? name : "unknown";
        }
    }
}
