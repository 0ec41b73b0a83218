using Pnh.Core.Journal;
using Pnh.Core.Stores;
using Pnh.Storage.Segments.Format;
using Pnh.Storage.Segments.Index;

namespace Pnh.Storage.Segments;

/// <summary>
/// Copies an open event with its milestones to the end of the log, byte for byte but for the links, and without users who were erased: a short history in one group, a long one in parts, a commit after each,
/// so that nobody waits for all of it. A copy in parts counts from its last one on (<see cref="RecordFlags.Partial"/>): until then the event goes on in the old place, and
/// what is noted there meanwhile is copied too. Goes on where it was after a fault of the disk; after a crash from the start. For the writer's thread.
/// </summary>
internal sealed class Carrier : IDisposable
{
    // So that one damaged record of the last part does not cost the event.
    private const int LeastLast = 2;

    private readonly JournalWriter _writer;
    private readonly RecordReader _reader;
    private readonly MilestonePlaces _places;
    private readonly int _partBytes;

    // What is written, and what of that is on stable storage.
    private Copy _copy;
    private Copy _synced;

    public Carrier(JournalWriter writer, SegmentSet segments, JournalOptions options)
    {
        (_writer, _partBytes) = (writer, options.CarryBytes);
        _reader = new RecordReader(segments);
        _places = new MilestonePlaces(segments, _reader, options.MostCarried);
    }

    /// <summary>Bytes written by all calls together.</summary>
    public long Written { get; private set; }

    private int RecordsLeft => _places.Count - _copy.Milestones + (_copy.Root == 0 ? 1 : 0);

    public void Dispose() => _reader.Dispose();

    /// <summary>Carries the event, or goes on with it. Throws <see cref="StoreUnavailableException"/> when the log takes nothing, or a record cannot be read.</summary>
    public Carried Carry(in IndexEntry entry)
    {
        if (_places.Root != entry.Root)
        {
            Forget();
            _places.Start(entry.Root);
        }

        if (!_places.TryFind(entry.Head))
        {
            return _places.IsTooLong ? Carried.TooLong : Carried.InPart;
        }

        if (_copy.Root == 0 && _places.Erased.Count > 0)
        {
            _places.DropErased();
        }

        var left = _places.Bytes + Read(entry.Root).PaddedBytes - _copy.Bytes;
        if (left > _partBytes && RecordsLeft > LeastLast)
        {
            WritePart(RestedOf(entry));
            return Carried.InPart;
        }

        return WriteRest(entry, (int)left);
    }

    /// <summary>The group is on stable storage.</summary>
    public void Keep() => _synced = _copy;

    /// <summary>It is not, and nothing of it counts.</summary>
    public void TakeBack() => _copy = _synced;

    /// <summary>Nothing is under way.</summary>
    public void Forget()
    {
        _places.Start(0);
        _copy = _synced = default;
    }

    /// <summary>As much as fits, and one record at least.</summary>
    private void WritePart(RecordFlags ofRoot)
    {
        var before = _copy.Bytes;
        for (var isFirst = true; RecordsLeft > LeastLast; isFirst = false)
        {
            var record = Read(_copy.Root == 0 ? _places.Root : _places[_copy.Milestones]);
            if (isFirst)
            {
                Reserve(Math.Max(_partBytes, record.PaddedBytes));
            }
            else if (_copy.Bytes - before + record.PaddedBytes > _partBytes)
            {
                return;
            }

            Write(record, _copy.Root == 0 ? RecordFlags.Partial | ofRoot : RecordFlags.None);
        }
    }

    /// <summary>In one group, and from there on nothing is noted in the old place any more.</summary>
    private Carried WriteRest(in IndexEntry entry, int bytes)
    {
        Reserve(bytes);
        var isAtOnce = _copy.Root == 0;
        if (isAtOnce)
        {
            Write(Read(entry.Root), RestedOf(entry));
        }

        while (_copy.Milestones < _places.Count)
        {
            Write(Read(_places[_copy.Milestones]), isAtOnce ? RecordFlags.None : RecordFlags.Partial);
        }

        _writer.Index.Replace(entry, entry.CarriedTo(_copy.Root, _copy.Head));

        // What took parts is committed before the next event is begun: else a fault of the disk would cost all of them.
        return isAtOnce ? Carried.Whole : Carried.InPart;
    }

    /// <summary>The next record of the copy; the first is its root.</summary>
    private void Write(in Record record, RecordFlags more)
    {
        Written += record.PaddedBytes;
        if (_copy.Root == 0)
        {
            var root = WriteRoot(record, more);
            _copy = new Copy(root, root, 0, record.PaddedBytes);
            return;
        }

        var previous = _copy.Head == _copy.Root ? 0 : _copy.Head;
        var head = _writer.Group.Copy(record, RecordKind.Milestone, RecordFlags.Repeated | (record.Flags & RecordFlags.Rested) | more, _copy.Root, previous);
        _writer.Users.Add(record, head, _copy.Root);
        _copy = new Copy(_copy.Root, head, _copy.Milestones + 1, _copy.Bytes + record.PaddedBytes);
        if (Payload.KindOf(record) == MilestoneKind.Withdrawn)
        {
            _writer.Index.Withdraw(_copy.Root, Payload.Milestone(record));
        }
    }

    // Byte for byte, unless it names a user who was erased.
    private long WriteRoot(in Record record, RecordFlags more)
    {
        if (_places.Erased.Count > 0 && Payload.Event(record) is var stored && BodyWithout.Users(stored.Body.Span, _places.Erased) is { } body)
        {
            return _writer.Group.Event(
                RecordKind.Carried, record.Class, stored.App, stored.Id, stored.IdGiven, stored.AcceptedAt, stored.ExpiresAt, stored.TraceParent, body, more);
        }

        return _writer.Group.Copy(record, RecordKind.Carried, (record.Flags & (RecordFlags.IdGiven | RecordFlags.Class)) | more, 0, 0);
    }

    private static RecordFlags RestedOf(in IndexEntry entry) => entry.IsRested ? RecordFlags.Rested : RecordFlags.None;

    private Record Read(long place) => _reader.TryRead(place, out var record) == ReadResult.Found ? record : throw _reader.Unreadable(place);

    private void Reserve(int bytes)
    {
        if (!_writer.TryReserve(bytes))
        {
            throw new StoreUnavailableException("Cannot be carried now.");
        }
    }

    /// <summary>What is written of the copy.</summary>
    /// <param name="Root">Its first record; 0 = nothing.</param>
    /// <param name="Head">Its newest.</param>
    /// <param name="Milestones">How many.</param>
    /// <param name="Bytes">All of it.</param>
    private readonly record struct Copy(long Root, long Head, int Milestones, long Bytes);
}
