using System.Collections.Concurrent;
using Pnh.Core.Journal;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Users;

/// <summary>
/// Which events name a user, and where. Of the segment that is written the writer adds to memory; of each other there is a <see cref="UserTable"/>, made by a thread of its
/// own once the log goes on in the next segment, or by the first caller who needs it. What a segment had before this process began with it is read from it.
/// What finds is thread-safe; what adds is for the writer's thread.
/// </summary>
internal sealed partial class UserIndex : IDisposable
{
    // The gate is free in between: a caller waits some 10 ms for the thread, not for a whole segment.
    private const int TurnBytes = 4 * 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly SegmentScan _scan = new(256 * 1024);
    private readonly EventIdHash _hash = new();
    private readonly Dictionary<int, UserTable> _tables = [];

    // What the writer added, of the segments without a table.
    private readonly ConcurrentDictionary<int, UserRecords> _added = new();

    // What their segments had before.
    private readonly Dictionary<int, UserRecords> _before = [];
    private readonly ConcurrentStack<UserRecord[]> _free = new();
    private readonly AutoResetEvent _changed = new(initialState: true);
    private readonly SegmentSet _segments;
    private readonly IJournalFolder? _folder;
    private readonly Thread? _thread;
    private UserRecords _last;
    private volatile bool _isStopping;

    /// <param name="segments">The log.</param>
    /// <param name="folder">Where tables are kept; null = nowhere: a segment is read whenever it is asked for.</param>
    public UserIndex(SegmentSet segments, IJournalFolder? folder)
    {
        (_segments, _folder) = (segments, folder);
        _last = Begin(segments.Last);
        segments.Changed += Follow;
        if (folder is not null)
        {
            _thread = new Thread(Run) { IsBackground = true, Name = "pnh-user-index" };
            _thread.Start();
        }
    }

    /// <summary>Ends its thread. After the writer has ended, and before the files of the log are closed.</summary>
    public void Dispose()
    {
        _segments.Changed -= Follow;
        _isStopping = true;
        _changed.Set();
        _thread?.Join();
        _changed.Dispose();
    }

    /// <summary>A milestone that is being written there.</summary>
    public void Add(in Milestone milestone, long position, long root)
    {
        if (milestone.User is { } user && MilestoneViews.IsOfUser(milestone.Kind))
        {
            _last.Add(new UserRecord(UserRecords.KeyOf(_hash.Of(milestone.App, user)), Position.Offset(position), root));
            if (MilestoneViews.IsFailure(milestone.Kind, milestone.State))
            {
                _last.Add(new UserRecord(UserRecords.KeyOf(_hash.Of(milestone.App, UserRecords.Failures)), Position.Offset(position), root));
            }
        }
    }

    /// <summary>The copy of one.</summary>
    public void Add(in Record copied, long position, long root) => _last.Add(copied, Position.Offset(position), root);

    /// <summary>What was added is on stable storage.</summary>
    public void Keep() => _last.Keep();

    /// <summary>It is not.</summary>
    public void TakeBack() => _last.TakeBack();

    /// <summary>Adds the user's events to the page, up to what is on stable storage now. Faults are <see cref="IOException"/>.</summary>
    public void Find(string app, string user, UserPlaces page)
    {
        var all = _segments.All;
        for (var i = all.Length - 1; i >= 0; i--)
        {
            try
            {
                lock (_gate)
                {
                    Find(all[i], app, user, page);
                }
            }
            catch (ObjectDisposedException)
            {
                // It was removed meanwhile, and all before it.
                return;
            }

            if (i > 0 && page.IsFull(all[i].Number))
            {
                return;
            }
        }
    }

    private void Find(Segment segment, string app, string user, UserPlaces page)
    {
        if (_added.TryGetValue(segment.Number, out var added))
        {
            Before(added, int.MaxValue)?.Find(app, user, page);
            added.Find(app, user, page);
        }
        else if (!TryFindInTable(segment, app, user, page))
        {
            var read = ReadAll(segment);
            read.Find(app, user, page);
            TryWrite(null, read);
        }
    }

    private bool TryFindInTable(Segment segment, string app, string user, UserPlaces page)
    {
        if (!HasTable(segment))
        {
            return false;
        }

        try
        {
            _tables[segment.Number].Find(app, user, page);
            return true;
        }
        catch (IOException)
        {
            // Somebody deleted it, or the disk lost it: it is made again.
            _tables.Remove(segment.Number);
            return false;
        }
    }

    private bool HasTable(Segment segment)
    {
        if (_folder is not null && !_tables.ContainsKey(segment.Number) && UserTable.TryOpen(_folder, segment) is { } table)
        {
            _tables.Add(segment.Number, table);
        }

        return _tables.ContainsKey(segment.Number);
    }

    private UserRecords ReadAll(Segment segment)
    {
        var read = new UserRecords(segment, _hash, SegmentHeader.Bytes);
        Read(read, segment.End, int.MaxValue);
        return read;
    }

    /// <summary>What the segment had before the writer began with it; null = nothing, or there is more than so many bytes and it has to be asked again.</summary>
    private UserRecords? Before(UserRecords added, int bytes)
    {
        if (added.From == SegmentHeader.Bytes)
        {
            return null;
        }

        if (!_before.TryGetValue(added.Segment.Number, out var before))
        {
            _before.Add(added.Segment.Number, before = new UserRecords(added.Segment, _hash, SegmentHeader.Bytes));
        }

        return Read(before, added.From, bytes) ? before : null;
    }

    /// <summary>False = there is more.</summary>
    private bool Read(UserRecords records, int end, int bytes)
    {
        var segment = records.Segment;
        _scan.Start(segment.File, segment.Number, records.End, end);
        while (!_scan.IsAtEnd && _scan.Offset - records.End < bytes && (_scan.TryRead(out var record) || _scan.TryFindNext(out record)))
        {
            records.Add(record, _scan.Offset, record.Root);
            _scan.Skip(record);
        }

        records.Keep(_scan.Offset);
        return _scan.IsAtEnd;
    }

    /// <summary>A full disk takes no table: then it is made when it is asked for, and tried again with the next segment.</summary>
    private void TryWrite(UserRecords? before, UserRecords records)
    {
        if (_folder is null)
        {
            return;
        }

        try
        {
            var table = UserTable.Write(_folder, before, records);
            lock (_gate)
            {
                _tables[records.Segment.Number] = table;
                _before.Remove(records.Segment.Number);
                if (_added.TryRemove(records.Segment.Number, out var added))
                {
                    added.Release();
                }
            }
        }
        catch (IOException)
        {
            // See above.
        }
    }

    private UserRecords Begin(Segment segment) => _added[segment.Number] = new UserRecords(segment, _hash, segment.End, _free);
}
