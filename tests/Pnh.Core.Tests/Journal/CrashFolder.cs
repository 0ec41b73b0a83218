using Pnh.Storage.Segments.Format;

namespace Pnh.Core.Tests.Journal;

/// <summary>What a crash leaves of the bytes and names that were not synced.</summary>
public enum Aftermath
{
    Nothing,
    Everything,
    TornPrefix,
    AnyPages,
}

/// <summary>
/// A folder in memory that keeps synced and unsynced bytes and names apart. It stops at a chosen operation (write, sync, create, delete, sync of the
/// folder): from then on everything fails, and <see cref="Survive"/> gives what a disk could hold afterwards. Thread-safe.
/// </summary>
internal sealed class CrashFolder : IJournalFolder
{
    private readonly Lock _gate = new();
    private readonly Dictionary<string, CrashFile> _files = [];
    private readonly List<(string Name, CrashFile? File)> _unsynced = [];
    private Dictionary<string, CrashFile> _synced = [];

    public string Name => "memory";

    /// <summary>Operations so far.</summary>
    public int Operations { get; private set; }

    /// <summary>The operation that is not done any more; default: none.</summary>
    public int CrashAt { get; set; } = int.MaxValue;

    public bool IsCrashed => Operations >= CrashAt;

    /// <summary>When set, thrown by the next writes or creations (not syncs) instead of doing them.</summary>
    public IOException? WriteFault { get; set; }

    /// <summary>When set, thrown by creations only: a full disk, on which what has its blocks is still overwritten.</summary>
    public IOException? CreationFault { get; set; }

    /// <summary>When set, thrown by syncs of files.</summary>
    public IOException? SyncFault { get; set; }

    /// <summary>When set, thrown by reads.</summary>
    public Exception? ReadFault { get; set; }

    /// <summary>Larger writes fail, as on a disk that is nearly full.</summary>
    public int LargestWrite { get; set; } = int.MaxValue;

    /// <summary>When set, thrown by deletions.</summary>
    public IOException? DeleteFault { get; set; }

    /// <summary>Deletions that were tried.</summary>
    public int Deletions { get; private set; }

    /// <summary>Reads so far.</summary>
    public int Reads { get; private set; }

    /// <summary>Called before a file is synced, with how many bytes wait for it; may block, as a slow disk does.</summary>
    public Action<int>? BeforeSync { get; set; }

    public Dictionary<string, byte[]> Aside { get; } = [];

    /// <summary>Of the segments, in their order.</summary>
    public IEnumerable<string> Names => List().Where(static name => name.EndsWith(".log", StringComparison.Ordinal)).Order();

    public IReadOnlyList<string> List()
    {
        lock (_gate)
        {
            return [.. _files.Keys];
        }
    }

    public IJournalFile Create(string name, long bytes)
    {
        lock (_gate)
        {
            Operate(CreationFault ?? WriteFault);
            var file = new CrashFile(this, bytes);
            _files[name] = file;
            _unsynced.Add((name, file));
            return new Handle(file);
        }
    }

    public IJournalFile Open(string name) => new Handle(_files[name]);

    public void Delete(string name)
    {
        lock (_gate)
        {
            Deletions++;
            Operate(DeleteFault);
            if (_files.Remove(name))
            {
                _unsynced.Add((name, null));
            }
        }
    }

    public void Sync()
    {
        lock (_gate)
        {
            Operate(null);
            _synced = new(_files);
            _unsynced.Clear();
        }
    }

    public void Quarantine(string name, ReadOnlySpan<byte> bytes) => Aside[name] = bytes.ToArray();

    /// <summary>The bytes of a file as a reader sees them; changes are seen too.</summary>
    public byte[] Bytes(string name) => _files[name].Current;

    /// <summary>Cuts a file, as a clumsy hand would.</summary>
    public void Truncate(string name, int bytes) => Replace(name, _files[name].Current[..bytes]);

    /// <summary>Another content, synced.</summary>
    public void Replace(string name, byte[] bytes) => _files[name] = new CrashFile(this, bytes);

    /// <summary>A copy in which everything is synced.</summary>
    public CrashFolder Copy()
    {
        var copy = new CrashFolder();
        foreach (var (name, file) in _files)
        {
            copy._files[name] = new CrashFile(copy, [.. file.Current]);
        }

        copy._synced = new(copy._files);
        return copy;
    }

    /// <summary>What a disk could hold after the crash, all of it synced.</summary>
    /// <param name="aftermath">Of what was not synced.</param>
    /// <param name="share">Of a torn prefix: how much of each file's unsynced sectors is there, 0 to 1.</param>
    /// <param name="random">Decides the rest.</param>
    public CrashFolder Survive(Aftermath aftermath, double share, Random random)
    {
        lock (_gate)
        {
            var names = new Dictionary<string, CrashFile>(_synced);
            foreach (var (name, file) in _unsynced)
            {
                var isDone = aftermath == Aftermath.Everything || (aftermath != Aftermath.Nothing && random.Next(2) == 0);
                if (isDone && file is not null)
                {
                    names[name] = file;
                }
                else if (isDone)
                {
                    names.Remove(name);
                }
                else if (aftermath == Aftermath.TornPrefix)
                {
                    break;
                }
            }

            var survivor = new CrashFolder();
            foreach (var (name, file) in names)
            {
                survivor._files[name] = new CrashFile(survivor, file.Survive(aftermath, share, random));
            }

            survivor._synced = new(survivor._files);
            return survivor;
        }
    }

    private void Operate(IOException? fault)
    {
        if (fault is not null)
        {
            throw fault;
        }

        if (Operations >= CrashAt)
        {
            throw new IOException("crashed");
        }

        Operations++;
    }

    /// <summary>One file: as readers see it, as it is synced, and the pages written between.</summary>
    private sealed class CrashFile
    {
        private const int Page = 4096;
        private const int Sector = 512;

        private readonly CrashFolder _folder;
        private readonly List<(int Offset, byte[] Bytes)> _unsynced = [];
        private byte[] _synced;

        public CrashFile(CrashFolder folder, long bytes)
        {
            (_folder, Current, _synced) = (folder, new byte[bytes], []);
        }

        public CrashFile(CrashFolder folder, byte[] synced)
        {
            (_folder, Current, _synced) = (folder, [.. synced], synced);
        }

        public byte[] Current { get; private set; }

        public void Write(ReadOnlySpan<byte> bytes, long offset)
        {
            lock (_folder._gate)
            {
                _folder.Operate(bytes.Length > _folder.LargestWrite ? new IOException("full", 28) : _folder.WriteFault);
                if (offset + bytes.Length > Current.Length)
                {
                    var longer = Current;
                    Array.Resize(ref longer, (int)offset + bytes.Length);
                    Current = longer;
                }

                bytes.CopyTo(Current.AsSpan((int)offset));
                for (var at = (int)offset; at < offset + bytes.Length;)
                {
                    var end = Math.Min((at / Page * Page) + Page, (int)offset + bytes.Length);
                    _unsynced.Add((at, bytes[(at - (int)offset)..(end - (int)offset)].ToArray()));
                    at = end;
                }
            }
        }

        public void Sync()
        {
            _folder.BeforeSync?.Invoke(_unsynced.Sum(write => write.Bytes.Length));
            lock (_folder._gate)
            {
                if (_folder.SyncFault is not null)
                {
                    // As Linux does: what could not be written is held for written, and no later sync brings it to the disk.
                    _unsynced.Clear();
                }

                _folder.Operate(_folder.SyncFault);
                Keep();
            }
        }

        // Only what was written since the last sync, page by page.
        private void Keep()
        {
            Array.Resize(ref _synced, Current.Length);
            foreach (var (offset, page) in _unsynced)
            {
                page.CopyTo(_synced, offset);
            }

            _unsynced.Clear();
        }

        public byte[] Survive(Aftermath aftermath, double share, Random random)
        {
            if (_synced.Length == 0 && aftermath != Aftermath.Everything && random.Next(2) == 0)
            {
                // Never synced: not even its length is.
                return [];
            }

            var bytes = new byte[Current.Length];
            _synced.CopyTo(bytes, 0);
            var left = (int)(share * _unsynced.Sum(write => (write.Bytes.Length + Sector - 1) / Sector));
            foreach (var (offset, page) in _unsynced)
            {
                var sectors = aftermath switch
                {
                    Aftermath.Nothing => 0,
                    Aftermath.Everything => Page / Sector,
                    Aftermath.TornPrefix => left,
                    _ => random.Next(3) switch { 0 => 0, 1 => Page / Sector, _ => random.Next(Page / Sector) },
                };
                var length = Math.Min(page.Length, sectors * Sector);
                page.AsSpan(0, length).CopyTo(bytes.AsSpan(offset));
                left -= Math.Min(left, (page.Length + Sector - 1) / Sector);
            }

            return bytes;
        }

        public int Read(Span<byte> into, long offset)
        {
            lock (_folder._gate)
            {
                _folder.Reads++;
                if (_folder.ReadFault is not null)
                {
                    throw _folder.ReadFault;
                }

                var bytes = Current.AsSpan((int)Math.Min(offset, Current.Length));
                bytes = bytes[..Math.Min(bytes.Length, into.Length)];
                bytes.CopyTo(into);
                return bytes.Length;
            }
        }
    }

    private sealed class Handle(CrashFile file) : IJournalFile
    {
        private bool _isClosed;

        public long Length => file.Current.Length;

        public int Read(Span<byte> into, long offset)
        {
            ObjectDisposedException.ThrowIf(_isClosed, this);
            return file.Read(into, offset);
        }

        public void Write(ReadOnlySpan<byte> bytes, long offset) => file.Write(bytes, offset);

        public void Sync() => file.Sync();

        public void Dispose() => _isClosed = true;
    }
}
