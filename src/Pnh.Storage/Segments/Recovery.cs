using Pnh.Storage.Files;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>
/// Reads the log at start and rebuilds the index. What ends it without a later group after it was never confirmed, and is cut off; any other damage
/// is of bytes that were on stable storage: refused, or put aside. May be interrupted at any point and run again.
/// </summary>
internal sealed partial class Recovery : IDisposable
{
    private readonly IJournalFolder _folder;
    private readonly JournalOptions _options;
    private readonly SegmentSet _segments = new();
    private readonly SegmentScan _scan = new(1024 * 1024);
    private readonly RecordReader _reader;
    private readonly EventIndex _index;

    // The group of the last record that was taken, where it began, and whether its end was seen; the greatest number on any record.
    private ulong _group;
    private int _groupStart;
    private bool _isWhole = true;
    private ulong _greatest;

    // What the manifest says; of the segment that is walked, up to where all was on stable storage.
    private LogEnds _ends = null!;
    private int _syncedEnd;

    public Recovery(IJournalFolder folder, EventIndex index, JournalOptions options)
    {
        (_folder, _index, _options) = (folder, index, options);
        _reader = new RecordReader(_segments);
    }

    /// <summary>Stretches that were put aside, missing segments among them.</summary>
    public int DamagedRecords { get; private set; }

    /// <summary>Throws <see cref="DataFolderException"/> on damage that is not to be put aside.</summary>
    public JournalLog Run(DateTimeOffset now)
    {
        try
        {
            OpenAll();
            _ends = LogEnds.Read(_folder, _segments);
            _greatest = _ends.Group;
            DropUnused();
            CheckHeaders();
            CheckEnds();
            for (var i = 0; i < _segments.Count; i++)
            {
                WalkOrPutAside(i);
                Mend(i);
            }

            Confirm();
            return GoOn(now);
        }
        catch
        {
            _segments.Close();
            throw;
        }
    }

    public void Dispose() => _reader.Dispose();

    private JournalLog GoOn(DateTimeOffset now)
    {
        var group = Math.Max(_group, _greatest);
        var log = new JournalLog(_folder, _segments, StartManifest(group), _options.SegmentBytes, group);
        if ((_segments.Count == 0 || _ends.NeedsSegment(_segments.Last)) && log.Rotate(now) is { } fault && _segments.Count == 0)
        {
            log.Dispose();
            throw new DataFolderException(fault.Message, fault);
        }

        return log;
    }

    private ManifestFile StartManifest(ulong group)
    {
        try
        {
            return ManifestFile.Start(_folder, _ends.ToManifest(_segments, group));
        }
        catch (IOException fault)
        {
            throw new DataFolderException(DiskFault.NotWritten(fault).Message, fault);
        }
    }

    private void OpenAll()
    {
        var numbers = new List<int>();
        foreach (var name in _folder.List())
        {
            if (SegmentSet.NumberOf(name) is > 0 and var number)
            {
                numbers.Add(number);
            }
        }

        numbers.Sort();
        Span<byte> bytes = stackalloc byte[SegmentHeader.Bytes];
        for (var i = 0; i < numbers.Count; i++)
        {
            var file = _folder.Open(SegmentSet.FileName(numbers[i]));
            var read = file.Read(bytes, 0);
            var isWhole = SegmentHeader.TryRead(bytes[..read], numbers[i], out var header);
            _segments.Add(new Segment(isWhole ? header : new SegmentHeader(numbers[i], file.Length, 0, 0, 0, 0, 0), file, isWhole ? SegmentHeader.Bytes : 0));
        }
    }

    /// <summary>
    /// A last segment without any record that the manifest does not name was being made when the hub stopped: what it says of the one before it may be out of date. The
    /// only one stays when it is whole: with its number feed cursors go on.
    /// </summary>
    private void DropUnused()
    {
        if (_segments.Count == 0 || _segments.Last.Number <= _ends.Last)
        {
            return;
        }

        var last = _segments.Last;
        _scan.Start(last.File, last.Number, SegmentHeader.Bytes, (int)last.File.Length);
        if (last.File.Length < last.Header.FileBytes || _scan.TryRead(out _) || _scan.TryFindNext(out _))
        {
            return;
        }

        _greatest = Math.Max(_greatest, last.Header.LastGroup);
        if (_segments.Count > 1 || last.End == 0 || last.File.Length < last.Header.FileBytes)
        {
            _folder.Delete(SegmentSet.FileName(last.Number));
            _folder.Sync();
            _segments.RemoveLast();
        }
    }

    private void CheckHeaders()
    {
        for (var i = 0; i < _segments.Count; i++)
        {
            var segment = _segments.All[i];
            if (i > 0 && _segments.All[i - 1].Number is var before && before != (segment.End == 0 ? segment.Number - 1 : segment.Header.Before))
            {
                Damaged(SegmentSet.FileName(before + 1), 0, "is missing");
            }

            if (segment.End == 0)
            {
                Damaged(SegmentSet.FileName(segment.Number), 0, "has a damaged header");
            }
            else if (segment.File.Length < segment.Header.FileBytes)
            {
                Damaged(SegmentSet.FileName(segment.Number), (int)segment.File.Length, "was cut short");
            }
        }
    }

    /// <summary>What comes before the first record or after the last is missed by nobody but the manifest.</summary>
    private void CheckEnds()
    {
        if (_ends.IsMissed)
        {
            Damaged(ManifestFile.Name, 0, "is missing or damaged");
        }

        if (_ends.Last > 0 && (_segments.Count == 0 || _segments.Last.Number < _ends.Last))
        {
            Damaged(SegmentSet.FileName(_ends.Last), 0, "is missing");
        }

        if (_segments.Count > 0 && _ends.First > 0 && _segments.Oldest.Number > _ends.First)
        {
            Damaged(SegmentSet.FileName(_ends.First), 0, "is missing");
        }
    }

    /// <summary>Counts it, or refuses.</summary>
    private void Damaged(string name, int offset, string what)
    {
        if (_options.OnDamage == DamagePolicy.Refuse)
        {
            throw new DataFolderException(
                $"{Path.Combine(_folder.Name, name)} {what} at offset {offset}, though it was on stable storage: check the disk, keep a copy of the data folder, "
                + "then start with Pnh:Journal:OnDamage=Quarantine to put it aside and serve the rest.");
        }

        DamagedRecords++;
    }
}
