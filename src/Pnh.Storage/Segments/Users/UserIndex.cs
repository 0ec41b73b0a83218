using Pnh.Core.Threads;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments.Users;

/// <summary>
/// Which events name a user, and where. It follows the log as a reader, so that the writer does nothing for it: the last segment's share is in memory, and is read on
/// when it is asked for; of each other segment there is a <see cref="UserTable"/>, made by a thread of its own once the log goes on in the next segment, or by the
/// first caller who needs it. Thread-safe.
/// </summary>
internal sealed class UserIndex : IDisposable
{
    // The gate is free in between: a caller waits some 10 ms for the thread, not for a whole segment.
    private const int TurnBytes = 4 * 1024 * 1024;

    private readonly Lock _gate = new();
    private readonly SegmentScan _scan = new(256 * 1024);
    private readonly EventIdHash _hash = new();
    private readonly Dictionary<int, UserTable> _tables = [];
    private readonly AutoResetEvent _changed = new(initialState: true);
    private readonly SegmentSet _segments;
    private readonly IJournalFolder? _folder;
    private readonly Thread? _thread;
    private UserRecords? _open;
    private volatile bool _isStopping;

    /// <param name="segments">The log.</param>
    /// <param name="folder">Where tables are kept; null = nowhere: a segment is read whenever it is asked for.</param>
    public UserIndex(SegmentSet segments, IJournalFolder? folder)
    {
        (_segments, _folder) = (segments, folder);
        if (folder is not null)
        {
            segments.Changed += Wake;
            _thread = new Thread(Run) { IsBackground = true, Name = "pnh-user-index" };
            _thread.Start();
        }
    }

    /// <summary>Ends its thread. After the writer has ended, and before the files of the log are closed.</summary>
    public void Dispose()
    {
        _segments.Changed -= Wake;
        _isStopping = true;
        Wake();
        _thread?.Join();
        _changed.Dispose();
    }

    /// <summary>Adds the user's events to the page, up to what is on stable storage now. Faults are <see cref="IOException"/>.</summary>
    public void Find(string app, string user, UserPlaces page)
    {
        var all = _segments.All;
        for (var i = all.Length - 1; i >= 0; i--)
        {
            try
            {
                Find(all[i], isLast: i == all.Length - 1, app, user, page);
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

    private void Find(Segment segment, bool isLast, string app, string user, UserPlaces page)
    {
        lock (_gate)
        {
            if (!isLast && TryFindInTable(segment, app, user, page))
            {
                return;
            }

            var records = _open?.Segment == segment ? _open : new UserRecords(segment, _hash);
            records.Read(_scan, int.MaxValue);
            records.Find(app, user, page);
            if (isLast)
            {
                _open = records;
            }
            else
            {
                TryWrite(records);
            }
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
        if (_folder is null || _tables.ContainsKey(segment.Number))
        {
            return _folder is not null;
        }

        if (UserTable.TryOpen(_folder, segment) is { } table)
        {
            _tables.Add(segment.Number, table);
        }

        return _tables.ContainsKey(segment.Number);
    }

    /// <summary>A full disk takes no table: then it is made when it is asked for, and tried again with the next segment.</summary>
    private void TryWrite(UserRecords records)
    {
        if (_folder is null)
        {
            return;
        }

        try
        {
            var table = UserTable.Write(_folder, records);
            lock (_gate)
            {
                _tables[records.Segment.Number] = table;
            }
        }
        catch (IOException)
        {
            // See above.
        }
    }

    private void Wake() => _changed.Set();

    private void Run()
    {
        _ = LowPriority.Take();
        while (_changed.WaitOne() && !_isStopping)
        {
            try
            {
                Forget();
                Follow();
            }
            catch (Exception fault) when (fault is IOException or ObjectDisposedException)
            {
                // A segment was removed meanwhile, or the disk failed: the next change of the log, or a caller, tries again.
            }
        }
    }

    /// <summary>Removes the tables of segments that are gone.</summary>
    private void Forget()
    {
        var oldest = _segments.Oldest.Number;
        foreach (var name in _folder!.List())
        {
            if (UserTable.SegmentOf(name) is > 0 and var segment && segment < oldest)
            {
                _folder.Delete(name);
                lock (_gate)
                {
                    _tables.Remove(segment);
                }
            }
        }
    }

    /// <summary>Makes the tables that are missing, newest first, and reads the last segment, so that the first caller does not have to.</summary>
    private void Follow()
    {
        var all = _segments.All;
        for (var i = all.Length - 1; i >= 0 && !_isStopping; i--)
        {
            if (TryRead(all[i], isLast: i == all.Length - 1) is { } records)
            {
                TryWrite(records);
            }
        }
    }

    /// <summary>The segment's records when a table is to be made of them, which nobody else has then.</summary>
    private UserRecords? TryRead(Segment segment, bool isLast)
    {
        UserRecords? records = null;
        for (var isWhole = false; !isWhole && !_isStopping;)
        {
            lock (_gate)
            {
                if (!isLast && records is null && HasTable(segment))
                {
                    return null;
                }

                records ??= _open?.Segment == segment ? _open : new UserRecords(segment, _hash);
                isWhole = records.Read(_scan, TurnBytes);
                _open = isLast ? records : _open == records ? null : _open;
            }
        }

        return isLast || _isStopping ? null : records;
    }
}
