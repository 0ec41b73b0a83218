using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Core.Journal.Segments;

/// <summary>
/// Removes the oldest segment once the retention of its youngest record is over, or the log is too large: walks it in small slices, forgets what is
/// finished or expired, and carries what is still open to the end of the log. For the writer's thread.
/// </summary>
internal sealed class Retirement
{
    private const int SliceBytes = 64 * 1024;

    // Some two million milestones. In one group, so that they have to fit into memory; what has more keeps its segment until it is over.
    private const int MostCarried = 512 * 1024 * 1024;

    // Between two commits; a slice of 64 kB takes some 50 us without carrying.
    private static readonly TimeSpan Budget = TimeSpan.FromMilliseconds(2);
    private static readonly TimeSpan Pause = TimeSpan.FromMinutes(1);

    private readonly SegmentScan _scan = new(256 * 1024);
    private readonly List<(long Root, string? User)> _withdrawals = [];
    private readonly JournalWriter _writer;
    private readonly JournalLog _log;
    private readonly HistoryReader _reader;
    private readonly TimeProvider _time;
    private readonly JournalOptions _options;
    private Segment? _walked;
    private long _carriedBytes;
    private DateTimeOffset _resumeAt = DateTimeOffset.MinValue;

    public Retirement(JournalWriter writer, JournalLog log, TimeProvider time, JournalOptions options)
    {
        (_writer, _log, _time, _options) = (writer, log, time, options);
        _reader = new HistoryReader(log.Segments);
    }

    /// <summary>True when an id need not be recognised any more: past the retention and, unless it is finished, past its TTL. All in UTC ticks.</summary>
    public static bool IsOver(long acceptedAt, long expiresAt, bool isFinished, TimeSpan retention, long now) =>
        now - acceptedAt >= retention.Ticks && (isFinished || now >= expiresAt);

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
        if (_log.Segments.Count < 2 || now < _resumeAt || !(now.UtcTicks - _log.Segments.Oldest.Newest >= _options.Retention.Ticks || IsTooLarge()))
        {
            return false;
        }

        _walked = _log.Segments.Oldest;
        _carriedBytes = 0;
        _withdrawals.Clear();
        _scan.Start(_walked.File, _walked.Number, SegmentHeader.Bytes, _walked.End);
        return true;
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
            for (var end = _scan.Offset + SliceBytes; _scan.Offset < end && !_scan.IsAtEnd;)
            {
                if (!_scan.TryRead(out var record))
                {
                    // What stood there may be open. A restart puts it aside, and says so.
                    throw DiskFault.Unreadable(Position.Of(_walked!.Number, _scan.Offset));
                }

                Visit(record, now);
                _scan.Skip(record);
            }

            if (_writer.TryCommit())
            {
                if (_scan.IsAtEnd)
                {
                    Remove();
                }

                return true;
            }
        }
        catch (Exception fault) when (fault is StoreUnavailableException or IOException)
        {
            _writer.TakeBack();
        }

        // A full disk or a record that cannot be read: the segment stays, and is walked again from its start.
        Rest();
        return false;
    }

    private void Visit(in Record record, long now)
    {
        if (record.Kind is RecordKind.Accepted or RecordKind.Carried)
        {
            Payload.Key(record, out var app, out var id);
            var root = Position.Of(_walked!.Number, _scan.Offset);
            if (_writer.Index.TryFind(_writer.Index.Hash.Of(app, id), root, out var entry))
            {
                if (entry.IsFinished || now >= Payload.Times(record).ExpiresAt)
                {
                    _writer.Index.Remove(entry);
                }
                else
                {
                    Carry(entry, record.Class);
                }
            }
        }
        else if (record.Kind == RecordKind.Milestone && Payload.KindOf(record) == MilestoneKind.Withdrawn)
        {
            _withdrawals.Add((record.Root, Payload.Milestone(record).User));
        }
    }

    /// <summary>The event and its milestones in one group, so that a restart finds all of them at the new place or at the old one.</summary>
    private void Carry(in IndexEntry entry, EventClass @class)
    {
        var history = _reader.Read(entry.Root, entry.Head) ?? throw DiskFault.Unreadable(entry.Root);
        var stored = history.Event;
        var bytes = (long)Record.HeaderBytes + 512 + stored.Body.Length;
        foreach (var milestone in history.Milestones)
        {
            bytes += Group.MostBytesOf(milestone);
        }

        if (bytes > MostCarried || !_writer.TryReserve((int)bytes))
        {
            throw new StoreUnavailableException("Cannot be carried now.");
        }

        var group = _writer.Group;
        var root = group.Event(
            RecordKind.Carried, @class, stored.App, stored.Id, stored.IdGiven, stored.AcceptedAt, stored.ExpiresAt, stored.TraceParent, stored.Body.Span);
        var head = root;
        foreach (var milestone in history.Milestones)
        {
            head = group.Milestone(milestone, RecordKind.Milestone, RecordFlags.Repeated, root, head == root ? 0 : head);
            if (milestone.Kind == MilestoneKind.Withdrawn)
            {
                _writer.Index.Withdraw(root, milestone.User);
            }
        }

        _writer.Index.Replace(entry, new IndexEntry(entry.Hash, root, head, isFinished: false, isCarried: true));
        _carriedBytes += bytes;
    }

    private void Remove()
    {
        var mostlyOpen = _carriedBytes > _walked!.End / 2;
        var isRemoved = _log.TryRemoveOldest();
        foreach (var (root, user) in isRemoved ? _withdrawals : [])
        {
            _writer.Index.ForgetWithdrawal(root, user);
        }

        _walked = null;
        if (mostlyOpen || !isRemoved)
        {
            // Little was won: with a size bound that open events alone exceed, or a folder that cannot be written, this would go round for ever.
            Rest();
        }
    }

    private void Rest()
    {
        _walked = null;
        _resumeAt = _time.GetUtcNow() + Pause;
    }
}
