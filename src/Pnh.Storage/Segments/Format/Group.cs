using System.Buffers.Binary;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Format;

/// <summary>
/// The records of one group on their way to the disk, in one buffer that is used again for every group. For the writer's thread.
/// </summary>
internal sealed class Group
{
    /// <summary>A milestone's text is cut here: a provider's reason may be anything.</summary>
    public const int MostText = 4_096;

    private const ushort Null = 0xffff;

    // A group that was far larger than usual does not keep its memory.
    private const int KeepBytes = 8 * 1024 * 1024;

    private byte[] _bytes = new byte[256 * 1024];
    private int _length;
    private int _record;
    private int _segment;
    private int _start;
    private ulong _number;

    public int Length => _length;

    public bool IsEmpty => _length == 0;

    public ReadOnlySpan<byte> Bytes => _bytes.AsSpan(0, _length);

    public static int MostBytesOf(Event accepted) => Record.HeaderBytes + 32
        + Encoding.UTF8.GetMaxByteCount(accepted.App.Length + accepted.Id.Length + (accepted.TraceParent?.Length ?? 0)) + accepted.Body.Length;

    public static int MostBytesOf(in Milestone milestone) => Record.HeaderBytes + 64
        + Encoding.UTF8.GetMaxByteCount(
            milestone.App.Length + milestone.Event.Length + Long(milestone.User) + Long(milestone.Device) + Long(milestone.State)
            + Long(milestone.Reason) + Long(milestone.Channel) + Long(milestone.ProviderId));

    /// <param name="segment">Where it will stand.</param>
    /// <param name="start">From which offset on.</param>
    /// <param name="number">Greater than any before.</param>
    public void Begin(int segment, int start, ulong number)
    {
        (_segment, _start, _number, _length) = (segment, start, number, 0);
        if (_bytes.Length > KeepBytes)
        {
            _bytes = new byte[KeepBytes];
        }
    }

    public long Event(
        RecordKind kind, EventClass @class, string app, string id, bool idGiven, DateTimeOffset acceptedAt, DateTimeOffset expiresAt, string? trace, ReadOnlySpan<byte> body,
        RecordFlags more = RecordFlags.None)
    {
        var position = Open(kind, (idGiven ? RecordFlags.IdGiven : RecordFlags.None) | (RecordFlags)((int)@class * 16) | more, 0, 0);
        Number(acceptedAt.UtcTicks);
        Number(expiresAt.UtcTicks);
        Text(app);
        Text(id);
        Text(trace);
        body.CopyTo(Take(body.Length));
        Close();
        return position;
    }

    public long Milestone(in Milestone milestone, RecordKind kind, RecordFlags flags, long root, long previous)
    {
        var isRested = milestone.Kind == MilestoneKind.Rested;
        var position = Open(kind, flags | (isRested ? RecordFlags.Rested : RecordFlags.None), root, previous);
        Number(milestone.At.UtcTicks);
        Number(milestone.NextAttemptAt?.UtcTicks ?? 0);
        var small = Take(8);
        BinaryPrimitives.WriteInt32LittleEndian(small, milestone.Attempts);
        small[4] = (byte)(isRested ? MilestoneKind.Reached : milestone.Kind);
        small[5] = (byte)milestone.Class;
        small[6] = milestone.IsKept ? (byte)1 : (byte)0;
        Text(milestone.App);
        Text(milestone.Event);
        Text(milestone.User);
        Text(milestone.Device);
        Text(milestone.State);
        Text(isRested ? string.Empty : milestone.Reason);
        Text(milestone.Channel);
        Text(milestone.ProviderId);
        Close();
        return position;
    }

    /// <summary>What another record says, with other links.</summary>
    public long Copy(in Record record, RecordKind kind, RecordFlags flags, long root, long previous)
    {
        var position = Open(kind, flags, root, previous);
        record.Payload.CopyTo(Take(record.Payload.Length));
        Close();
        return position;
    }

    public void Finish(string app, string id, long root, long previous)
    {
        Open(RecordKind.Finished, RecordFlags.None, root, previous);
        Text(app);
        Text(id);
        Close();
    }

    /// <summary>A record that says nothing: whether a group can be written.</summary>
    public void Seal()
    {
        Open(RecordKind.Seal, RecordFlags.None, 0, 0);
        Close();
    }

    /// <summary>The record of this group that stands there.</summary>
    public bool TryRead(long position, out Record record)
    {
        var at = Position.Offset(position) - _start;
        var isMine = Position.Segment(position) == _segment && at >= 0 && at < _length;
        record = isMine ? Record.Trusted(_bytes.AsSpan(at, _length - at)) : default;
        return isMine;
    }

    /// <summary>Nothing is added any more: marks the last record and puts the checksums in.</summary>
    public void Complete()
    {
        for (var at = 0; at < _length;)
        {
            at += Record.Close(_bytes.AsSpan(at), Position.Of(_segment, _start + at), at == _record ? RecordFlags.GroupEnd : RecordFlags.None);
        }
    }

    private static int Long(string? text) => Math.Min(text?.Length ?? 0, MostText);

    private long Open(RecordKind kind, RecordFlags flags, long root, long previous)
    {
        _record = _length;
        Record.WriteHeader(Take(Record.HeaderBytes), kind, flags, _start, _number, root, previous);
        return Position.Of(_segment, _start + _record);
    }

    private void Close()
    {
        Record.WriteLength(_bytes.AsSpan(_record), _length - _record);
        _ = Take(Record.Padded(_length) - _length);
    }

    private void Number(long value) => BinaryPrimitives.WriteInt64LittleEndian(Take(8), value);

    private void Text(string? text)
    {
        if (text is null)
        {
            BinaryPrimitives.WriteUInt16LittleEndian(Take(2), Null);
            return;
        }

        var characters = text.AsSpan(0, Long(text));
        var at = _length;
        var room = Take(2 + (3 * characters.Length));
        var bytes = Encoding.UTF8.GetBytes(characters, room[2..]);
        BinaryPrimitives.WriteUInt16LittleEndian(room, (ushort)bytes);
        _length = at + 2 + bytes;
    }

    /// <summary>The next bytes, all zero.</summary>
    private Span<byte> Take(int bytes)
    {
        if (_length + bytes > _bytes.Length)
        {
            Array.Resize(ref _bytes, Math.Max(2 * _bytes.Length, _length + bytes));
        }

        var taken = _bytes.AsSpan(_length, bytes);
        taken.Clear();
        _length += bytes;
        return taken;
    }
}
