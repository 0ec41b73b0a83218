using Pnh.Core.Threads;
using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Users;

/// <summary>The thread that makes tables, behind the writer and behind everybody else.</summary>
internal sealed partial class UserIndex
{
    /// <summary>On the writer's thread: the next segment is there, or the oldest went.</summary>
    private void Follow()
    {
        if (_segments.Last != _last.Segment)
        {
            if (_folder is null)
            {
                _added.TryRemove(_last.Segment.Number, out _);
            }

            _last = Begin(_segments.Last);
        }

        _changed.Set();
    }

    private void Run()
    {
        _ = LowPriority.Take();
        while (_changed.WaitOne() && !_isStopping)
        {
            try
            {
                Forget();
                MakeTables();
            }
            catch (Exception fault) when (fault is IOException or ObjectDisposedException)
            {
                // A segment was removed meanwhile, or the disk failed: the next change of the log, or a caller, tries again.
            }
        }
    }

    /// <summary>Removes what there is of segments that are gone.</summary>
    private void Forget()
    {
        var oldest = _segments.Oldest.Number;
        foreach (var segment in _added.Keys.Where(segment => segment < oldest))
        {
            _added.TryRemove(segment, out _);
        }

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

    /// <summary>Those that are missing, newest first; and reads what the last segment had at the start, so that the first caller does not have to.</summary>
    private void MakeTables()
    {
        var all = _segments.All;
        for (var i = all.Length - 1; i >= 0 && !_isStopping; i--)
        {
            if (_added.TryGetValue(all[i].Number, out var added))
            {
                var before = ReadBefore(added);
                if (i < all.Length - 1 && !_isStopping)
                {
                    TryWrite(before, added);
                }
            }
            else if (TryReadWhole(all[i]) is { } read)
            {
                TryWrite(null, read);
            }
        }
    }

    private UserRecords? ReadBefore(UserRecords added)
    {
        while (added.From > SegmentHeader.Bytes && !_isStopping)
        {
            lock (_gate)
            {
                if (Before(added, TurnBytes) is { } before)
                {
                    return before;
                }
            }
        }

        return null;
    }

    /// <summary>Null when it has a table.</summary>
    private UserRecords? TryReadWhole(Segment segment)
    {
        var read = new UserRecords(segment, _hash, SegmentHeader.Bytes);
        for (var isWhole = false; !isWhole && !_isStopping;)
        {
            lock (_gate)
            {
                if (HasTable(segment))
                {
                    return null;
                }

                isWhole = Read(read, segment.End, TurnBytes);
            }
        }

        return _isStopping ? null : read;
    }
}
