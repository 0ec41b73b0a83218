using Pnh.Core.Stores;
using Pnh.Storage.Files;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments;

/// <summary>The end of the log, where groups go: writes, syncs and makes new segments. For the writer's thread, but for <see cref="Damage"/>.</summary>
internal sealed class JournalLog : IDisposable
{
    private const int SliceBytes = 1024 * 1024;

    // A file system notes in its own journal when a block that is only allocated is written for the first time: with groups of 3 to 8 kB on ext4 a sync took 70 to 85 us
    // of this thread's CPU, 30 of the kernel's and 230 in all; into blocks that zeros went to before, 45 to 55, 16 and 150. With twice as many zeros the one sync that
    // writes them is slower (p99 of all 0.55 ms instead of 0.45), and nothing is gained.
    private const int FillBytes = 256 * 1024;

    // Of larger groups so few fit that writing the zeros costs what they save.
    private const int MostToFillAfter = FillBytes / 8;

    private static readonly byte[] Zeros = new byte[FillBytes];

    private readonly IJournalFolder _folder;
    private readonly ManifestFile _manifest;
    private readonly int _segmentBytes;
    private ulong _lastGroup;
    private StoreUnavailableException? _damage;

    /// <param name="folder">Where segments are.</param>
    /// <param name="segments">Those that recovery found.</param>
    /// <param name="manifest">What a start must find of them.</param>
    /// <param name="segmentBytes">Usual size of new ones.</param>
    /// <param name="lastGroup">The greatest group number that was seen anywhere.</param>
    public JournalLog(IJournalFolder folder, SegmentSet segments, ManifestFile manifest, int segmentBytes, ulong lastGroup) =>
        (_folder, Segments, _manifest, _segmentBytes, _lastGroup) = (folder, segments, manifest, segmentBytes, lastGroup);

    public SegmentSet Segments { get; }

    /// <summary>A sync failed: the kernel may have dropped what it could not write, so that trying again could report success for lost bytes.</summary>
    public StoreUnavailableException? Damage => Volatile.Read(ref _damage);

    /// <summary>What a start must find. For the writer's thread.</summary>
    public Manifest Manifest => _manifest.Current;

    /// <summary>The last segment has records, and is as old as the retention.</summary>
    public bool IsDueForRotation(TimeSpan retention, DateTimeOffset now) =>
        Segments.Last.End > SegmentHeader.Bytes && now.UtcTicks - Segments.Last.Header.MadeAt >= retention.Ticks;

    /// <summary>See <see cref="Break"/>: what memory says of the log is not read either. For the writer's thread.</summary>
    public bool IsBroken { get; private set; }

    /// <summary>Not the disk but this code is broken: what memory says of the log may be wrong, so that nothing more is written.</summary>
    public void Break(Exception bug)
    {
        IsBroken = true;
        Volatile.Write(
            ref _damage, new StoreUnavailableException($"The journal broke ({bug.Message.TrimEnd('.')}), which is a bug: restart the hub.", bug));
    }

    /// <summary>Another hub writes the log: what memory says of it is not true any more.</summary>
    public void Lose()
    {
        IsBroken = true;
        Volatile.Write(ref _damage, FolderFault.Lost());
    }

    /// <summary>Every attempt has a number of its own: what a failed one left behind is recognised by it.</summary>
    public void Begin(Group group) => group.Begin(Segments.Last.Number, Segments.Last.End, ++_lastGroup);

    /// <summary>Null = the group is on stable storage. Else nothing of it counts, and the next goes to the same place.</summary>
    public StoreUnavailableException? Commit(Group group, long newest)
    {
        var segment = Segments.Last;
        group.Complete();
        try
        {
            for (var bytes = group.Bytes; !bytes.IsEmpty; bytes = bytes[Math.Min(SliceBytes, bytes.Length)..])
            {
                segment.File.Write(bytes[..Math.Min(SliceBytes, bytes.Length)], segment.End + group.Length - bytes.Length);
            }

            if (group.Length <= MostToFillAfter)
            {
                FillAfter(segment, segment.End + group.Length);
            }
        }
        catch (IOException fault)
        {
            return DiskFault.NotWritten(fault);
        }

        if (!TrySync(segment.File))
        {
            return _damage;
        }

        segment.Saw(newest);
        segment.End += group.Length;
        return null;
    }

    /// <summary>From here on all that is on stable storage now must be found by a start; without it, damage at the end would look like a torn write. False = tried again later.</summary>
    public bool TryMark() => Note(Segments.Oldest.Number, Segments.Last.Number, Segments.Last.End) is null;

    /// <summary>The registry has the folder's id from now on. False = that could not be written.</summary>
    public bool TryPair() => Write(Manifest with { IsPaired = true }) is null;

    /// <summary>The same in both slots of the manifest: nothing is written any more, and either is enough.</summary>
    public void MarkStop()
    {
        if (Damage is null && TryMark())
        {
            _ = Write(_manifest.Current);
        }
    }

    public void Dispose() => _manifest.Dispose();

    /// <summary>A new segment to write to. Null = it is there, durably.</summary>
    /// <param name="now">When it is made.</param>
    /// <param name="room">What it has to take at once: with more than usual it is larger.</param>
    public StoreUnavailableException? Rotate(DateTimeOffset now, int room = 0)
    {
        var before = Segments.Count == 0 ? null : Segments.Last;
        var number = Math.Max(before?.Number ?? 0, Manifest.Last) + 1;
        var fileBytes = Math.Max(_segmentBytes, SegmentHeader.Bytes + Record.Padded(room));
        var header = new SegmentHeader(number, fileBytes, before?.Number ?? 0, before?.End ?? 0, now.UtcTicks, _lastGroup, Manifest.Folder);
        var name = SegmentSet.FileName(header.Number);
        IJournalFile? file = null;
        try
        {
            file = _folder.Create(name, fileBytes);
            Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
            header.Write(bytes);
            file.Write(bytes, 0);
        }
        catch (IOException notMade)
        {
            file?.Dispose();
            Forget(name);
            return DiskFault.NotWritten(notMade);
        }

        if (!TrySync(file) || !TrySyncFolder())
        {
            file.Dispose();
            return _damage;
        }

        // Before its first record: from then on it is missed when it is gone.
        if (Note(Segments.Count == 0 ? number : Segments.Oldest.Number, number, SegmentHeader.Bytes) is { } fault)
        {
            file.Dispose();
            Forget(name);
            return fault;
        }

        Segments.Add(new Segment(header, file, SegmentHeader.Bytes));
        return null;
    }

    /// <summary>Removes the oldest segment. One at a time: after a crash there may be one too many, but no gap. False = tried again later.</summary>
    public bool TryRemoveOldest()
    {
        if (Note(Segments.All[1].Number, Segments.Last.Number, Segments.Last.End) is not null)
        {
            return false;
        }

        try
        {
            _folder.Delete(SegmentSet.FileName(Segments.Oldest.Number));
        }
        catch (IOException)
        {
            return false;
        }

        Segments.RemoveOldest();
        _ = TrySyncFolder();
        return true;
    }

    /// <summary>Zeros for the groups to come, when this one went past what was filled. The same sync is theirs.</summary>
    private static void FillAfter(Segment segment, int end)
    {
        if (end <= segment.Filled)
        {
            return;
        }

        var bytes = (int)Math.Min(FillBytes, segment.Header.FileBytes - end);
        try
        {
            segment.File.Write(Zeros.AsSpan(0, bytes), end);
            segment.Filled = end + bytes;
        }
        catch (IOException)
        {
            // The group stands: to refuse it now would be a lie after a crash. A disk that failed says so at the sync; a full one takes what fits.
        }
    }

    private StoreUnavailableException? Note(int first, int last, int end)
    {
        var now = _manifest.Current with { First = first, Last = last, End = end };
        return now == _manifest.Current ? null : Write(now with { Group = _lastGroup });
    }

    private StoreUnavailableException? Write(in Manifest manifest)
    {
        try
        {
            _manifest.Write(manifest);
        }
        catch (IOException fault)
        {
            return DiskFault.NotWritten(fault);
        }

        return TrySync(_manifest.File) ? null : _damage;
    }

    private void Forget(string name)
    {
        try
        {
            _folder.Delete(name);
        }
        catch (IOException)
        {
            // The next attempt replaces it.
        }
    }

    private bool TrySync(IJournalFile file)
    {
        try
        {
            file.Sync();
            return true;
        }
        catch (IOException fault)
        {
            Volatile.Write(ref _damage, DiskFault.NotSynced(fault));
            return false;
        }
    }

    private bool TrySyncFolder()
    {
        try
        {
            _folder.Sync();
            return true;
        }
        catch (IOException fault)
        {
            Volatile.Write(ref _damage, DiskFault.NotSynced(fault));
            return false;
        }
    }
}
