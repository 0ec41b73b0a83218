using System.Buffers.Binary;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Storage.Segments.Format;

/// <summary>Reads what <see cref="Group"/> wrote, front to back. Only for checked records: it trusts the lengths.</summary>
internal ref struct Payload
{
    private const ushort Null = 0xffff;

    private ReadOnlySpan<byte> _rest;

    private Payload(ReadOnlySpan<byte> payload) => _rest = payload;

    /// <summary>Of <see cref="RecordKind.Accepted"/> and <see cref="RecordKind.Carried"/>.</summary>
    public static StoredEvent Event(in Record record)
    {
        var from = new Payload(record.Payload);
        var (acceptedAt, expiresAt) = (from.Time(), from.Time());
        var (app, id, trace) = (from.Text()!, from.Text()!, from.Text());
        return new StoredEvent(app, id, (record.Flags & RecordFlags.IdGiven) != 0, acceptedAt, expiresAt, trace, from._rest.ToArray());
    }

    /// <summary>Its times, UTC ticks.</summary>
    public static (long AcceptedAt, long ExpiresAt) Times(in Record record)
    {
        var from = new Payload(record.Payload);
        return (from.Number(), from.Number());
    }

    /// <summary>True when it is the event with this key; then also its body.</summary>
    public static bool IsEvent(in Record record, string app, string id, out ReadOnlySpan<byte> body)
    {
        var from = new Payload(record.Payload[16..]);
        var same = Equals(from.Bytes(), app) & Equals(from.Bytes(), id);
        from.Bytes();
        body = from._rest;
        return same;
    }

    /// <summary>The key of what belongs to an event, as UTF-8.</summary>
    public static void Key(in Record record, out ReadOnlySpan<byte> app, out ReadOnlySpan<byte> id)
    {
        var skip = record.Kind switch { RecordKind.Accepted or RecordKind.Carried => 16, RecordKind.Finished => 0, _ => 24 };
        var from = new Payload(record.Payload[skip..]);
        app = from.Bytes();
        id = from.Bytes();
    }

    /// <summary>True when it belongs to that app.</summary>
    public static bool IsOf(in Record record, string app)
    {
        Key(record, out var bytes, out _);
        return Equals(bytes, app);
    }

    /// <summary>The user that a <see cref="RecordKind.Milestone"/> names, as UTF-8; empty = none.</summary>
    public static ReadOnlySpan<byte> UserOf(in Record record)
    {
        var from = new Payload(record.Payload[24..]);
        from.Bytes();
        from.Bytes();
        return from.Bytes();
    }

    /// <summary>The milestone's kind alone.</summary>
    public static MilestoneKind KindOf(in Record record) => (record.Flags & RecordFlags.Rested) != 0 ? MilestoneKind.Rested : (MilestoneKind)record.Payload[20];

    /// <summary>The time of a <see cref="RecordKind.Milestone"/> or <see cref="RecordKind.Address"/>, UTC ticks.</summary>
    public static long TimeOf(in Record record) => BinaryPrimitives.ReadInt64LittleEndian(record.Payload);

    /// <summary>Of <see cref="RecordKind.Milestone"/>, and the shape of <see cref="RecordKind.Address"/>.</summary>
    public static Milestone Milestone(in Record record) => Milestone(record.Payload, (record.Flags & RecordFlags.Rested) != 0);

    /// <summary>The same of the payload alone; <paramref name="isRested"/> is a flag of its record.</summary>
    public static Milestone Milestone(ReadOnlySpan<byte> payload, bool isRested)
    {
        var from = new Payload(payload);
        var at = from.Time();
        var next = from.Number();
        var small = from.Take(8);
        var (app, id) = (from.Text()!, from.Text()!);
        return new Milestone(app, id, (EventClass)small[5], isRested ? MilestoneKind.Rested : (MilestoneKind)small[4], at)
        {
            User = from.Text(),
            Device = from.Text(),
            State = from.Text(),
            Reason = from.Text() is { } reason && (reason.Length > 0 || !isRested) ? reason : null,
            Channel = from.Text(),
            ProviderId = from.Text(),
            IsKept = small[6] != 0,
            Attempts = BinaryPrimitives.ReadInt32LittleEndian(small),
            NextAttemptAt = next == 0 ? null : new DateTimeOffset(next, TimeSpan.Zero),
        };
    }

    /// <summary>An address note in the shape of a milestone.</summary>
    public static Milestone FromAddress(in AddressNote note) => new(note.App, string.Empty, default, default, note.At)
    {
        User = note.User,
        Device = note.Device,
        Channel = note.Channel,
        State = note.Health,
        Reason = note.Reason,
        ProviderId = note.MovedTo, // the shape has no member of its own for it
    };

    /// <summary>And back.</summary>
    public static AddressNote ToAddress(in Milestone shape) =>
        new(shape.App, shape.User!, shape.Device!, shape.Channel!, shape.State!, shape.Reason, shape.At, shape.ProviderId);

    private static bool Equals(ReadOnlySpan<byte> bytes, string text)
    {
        if (Ascii.Equals(bytes, text))
        {
            return true;
        }

        // Ids are ASCII; this is for what a test or a later rule brings.
        return !Ascii.IsValid(bytes) && Encoding.UTF8.GetString(bytes) == text;
    }

    private DateTimeOffset Time() => new(Number(), TimeSpan.Zero);

    private long Number() => BinaryPrimitives.ReadInt64LittleEndian(Take(8));

    private string? Text()
    {
        var length = BinaryPrimitives.ReadUInt16LittleEndian(Take(2));
        return length == Null ? null : Encoding.UTF8.GetString(Take(length));
    }

    private ReadOnlySpan<byte> Bytes()
    {
        var length = BinaryPrimitives.ReadUInt16LittleEndian(Take(2));
        return length == Null ? default : Take(length);
    }

    private ReadOnlySpan<byte> Take(int bytes)
    {
        var taken = _rest[..bytes];
        _rest = _rest[bytes..];
        return taken;
    }
}
