using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>
/// Removes the oldest segment once the retention of its youngest record is over, or the log is too large: walks it in small slices, forgets what is
/// finished or expired, and carries what is still open to the end of the log. For the writer's thread.
/// </summary>
internal sealed class Retirement : IDisposable
{
    private const int SliceBytes = 64 * 1024;

    // Between two commits; a slice of 64 kB takes some 50 us without carrying.
    private static readonly TimeSpan Budget = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(1);

    private readonly SegmentScan _scan = new(256 * 1024);
    private readonly List<(long Root, string? User)> _withdrawals = [];
    private readonly JournalWriter _writer;
    private readonly JournalLog _log;
    private readonly Carrier _carrier;
    private readonly TimeProvider _time;
    private readonly JournalOptions _options;
    private Segment? _walked;
    private long _carriedBytes;
    private long _early;

    // Too long to be carried: nothing goes before it is over, and until then it is not read again.
    private IndexEntry _pinned;
    private long _pinnedUntil;
    private DateTimeOffset _resumeAt = DateTimeOffset.MinValue;

    public Retirement(JournalWriter writer, JournalLog log, TimeProvider time, JournalOptions options)
    {
        (_writer, _log, _time, _options) = (writer, log, time, options);
        _carrier = new Carrier(writer, log.Segments, options);
    }

    /// <summary>How many segments went before the retention of what is in them was over. Any thread may ask.</summary>
    public long Early => Volatile.Read(ref _early);

    public void Dispose() => _carrier.Dispose();

    /// <summary>Some of it: 2 ms while others wait, all of it when idle.</summary>
    public void Run(bool isIdle)
    {
        var started = _time.GetTimestamp();
        while (Find() && TryWalk() && (isIdle ? !_writer.Queue.HasWork() : _time.GetElapsedTime(started) < Budget))
        {
        }
    }

    private bool Find()
    {
        if (_walked is not null)
        {
            return true;
        }

        var now = _time.GetUtcNow();
        if (_log.Segments.Count < 2 || now < _resumeAt || !(now.UtcTicks - _log.Segments.Oldest.Newest >= _options.Retention.Ticks || IsTooLarge())
            || IsPinned(now.UtcTicks))
        {
            return false;
        }

        _walked = _log.Segments.Oldest;
        _carriedBytes = 0;
        _withdrawals.Clear();
        _scan.Start(_walked.File, _walked.Number, SegmentHeader.Bytes, _walked.End);
        return true;
    }

    private bool IsPinned(long now)
    {
        if (!_pinned.IsEmpty
            && (!_writer.Index.TryFind(_pinned.Hash, _pinned.Root, out var entry) || entry.IsFinished || now >= _pinnedUntil))
        {
            _pinned = default;
        }

        return !_pinned.IsEmpty;
    }

    private bool IsTooLarge()
    {
        var bytes = 0L;
        foreach (var segment in _log.Segments.All)
        {
            bytes += segment.End;
        }

        return bytes > _options.MaxBytes;
    }

    /// <summary>One slice, committed. False = not now.</summary>
    private bool TryWalk()
    {
        try
        {
            var now = _time.GetUtcNow().UtcTicks;
            for (var end = _scan.Offset + SliceBytes; _scan.Offset < end && !_scan.IsAtEnd && _writer.Group.Length < _options.CarryBytes;)
            {
                if (!_scan.TryRead(out var record))
                {
                    // What stood there may be open. A restart puts it aside, and says so.
                    throw _log.Segments.Unreadable(Position.Of(_walked!.Number, _scan.Offset));
                }

                if (!TryVisit(record, now))
                {
                    break;
                }

                _scan.Skip(record);
            }

            if (_writer.TryCommit())
            {
                _carrier.Keep();
                if (_scan.IsAtEnd)
                {
                    Remove();
                }

                return _pinned.IsEmpty || Rest();
            }
        }
        catch (Exception fault) when (fault is StoreUnavailableException or IOException or OutOfMemoryException)
        {
            _writer.TakeBack();
        }

        // A full disk, a record that cannot be read, no memory: the segment stays, and is walked again from its start.
        _carrier.TakeBack();
        return Rest();
    }

    /// <summary>False = it takes more than this slice.</summary>
    private bool TryVisit(in Record record, long now)
    {
        if (record.Kind is RecordKind.Accepted or RecordKind.Carried)
        {
            Payload.Key(record, out var app, out var id);
            var root = Position.Of(_walked!.Number, _scan.Offset);
            if (_writer.Index.TryFind(_writer.Index.Hash.Of(app, id), root, out var entry))
            {
                var expiresAt = Payload.Times(record).ExpiresAt;
                if (!entry.IsFinished && now < expiresAt)
                {
                    return TryCarry(entry, expiresAt);
                }

                _writer.Index.Remove(entry);
            }
        }
        else if (record.Kind == RecordKind.Milestone && Payload.KindOf(record) == MilestoneKind.Withdrawn)
        {
            _withdrawals.Add((record.Root, Payload.Milestone(record).User));
        }

        return true;
    }

    private bool TryCarry(in IndexEntry entry, long expiresAt)
    {
        var before = _carrier.Written;
        var carried = _carrier.Carry(entry);
        _carriedBytes += _carrier.Written - before;
        if (carried == Carried.TooLong)
        {
            _carrier.Forget();
            (_pinned, _pinnedUntil) = (entry, expiresAt);
        }

        return carried == Carried.Whole;
    }

    private void Remove()
    {
        var mostlyOpen = _carriedBytes > _walked!.End / 2;
        var isEarly = _time.GetUtcNow().UtcTicks - _walked.Newest < _options.Retention.Ticks;
        var isRemoved = _log.TryRemoveOldest();
        if (isRemoved && isEarly)
        {
            Volatile.Write(ref _early, _early + 1);
        }

        foreach (var (root, user) in isRemoved ? _withdrawals : [])
        {
            _writer.Index.ForgetWithdrawal(root, user);
        }

        _walked = null;
        _carrier.Forget();
        if (mostlyOpen || !isRemoved)
        {
            // Little was won: with a size bound that open events alone exceed, or a folder that cannot be written, this would go round for ever.
            Rest();
        }
    }

    private bool Rest()
    {
        _walked = null;
        _resumeAt = _time.GetUtcNow() + Pause;
        return false;
    }
}
