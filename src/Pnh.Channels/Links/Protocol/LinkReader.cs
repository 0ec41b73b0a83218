using System.Buffers.Binary;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// Reads the members of one item, in the order in which <see cref="LinkWriter"/> wrote them. Every method throws <see cref="LinkFormatException"/> for what no writer writes, and takes no memory that
/// the item does not have itself.
/// </summary>
internal ref struct LinkReader
{
    /// <summary>Bytes of an item's length.</summary>
    public const int LengthBytes = 4;

    /// <summary>Bytes before an item's members.</summary>
    public const int HeadBytes = LengthBytes + 1;

    /// <summary>Most bytes that an item may have behind its length: an event's body with everything around it has less than half.</summary>
    public const int MaxItemBytes = 512 * 1024;

    private const int MostNameCharacters = 128;
    private static readonly EventTarget NotHere = EventTarget.ToUser("");
    private static readonly TimeSpan MostAge = TimeSpan.FromDays(36_525);
    private static readonly UTF8Encoding Utf8 = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);

    private ReadOnlySpan<byte> _left;

    public LinkReader(ReadOnlySpan<byte> members)
    {
        _left = members;
        Length = members.Length;
    }

    /// <summary>Bytes of the item's members.</summary>
    public int Length { get; }

    /// <summary>Bytes that were not read yet.</summary>
    public readonly int Left => _left.Length;

    /// <summary>Takes the next item off a batch; false when it is not whole yet, and then nothing was taken.</summary>
    /// <param name="batch">What has come; what is left of it afterwards.</param>
    /// <param name="kind">What it says.</param>
    /// <param name="members">For a reader.</param>
    public static bool TryTake(ref ReadOnlyMemory<byte> batch, out LinkItemKind kind, out ReadOnlyMemory<byte> members)
    {
        (kind, members) = (default, default);
        if (batch.Length < LengthBytes)
        {
            return false;
        }

        var length = BinaryPrimitives.ReadInt32LittleEndian(batch.Span);
        if (length is < 1 or > MaxItemBytes)
        {
            throw new LinkFormatException("the length of an item is out of bounds");
        }

        if (batch.Length - LengthBytes < length)
        {
            return false;
        }

        kind = (LinkItemKind)batch.Span[LengthBytes];
        members = batch[HeadBytes..(LengthBytes + length)];
        batch = batch[(LengthBytes + length)..];
        return true;
    }

    /// <summary>Throws when the item has more members than were read.</summary>
    public readonly void End()
    {
        if (!_left.IsEmpty)
        {
            throw new LinkFormatException("an item has more members than its kind");
        }
    }

    public bool Flag() => Take(1)[0] switch
    {
        0 => false,
        1 => true,
        _ => throw new LinkFormatException("a flag is neither 0 nor 1"),
    };

    public long Number()
    {
        var value = 0UL;
        for (var shift = 0; shift < 63; shift += 7)
        {
            var next = Take(1)[0];
            value |= (ulong)(next & 0x7F) << shift;
            if (next < 0x80)
            {
                return (long)value;
            }
        }

        throw new LinkFormatException("a number is too long");
    }

    /// <summary>A number that is an index or a version.</summary>
    public int Small() => Number() is var value and <= ushort.MaxValue ? (int)value : throw new LinkFormatException("a number is out of range");

    public DateTimeOffset Time() => Number() is var ticks && ticks <= DateTimeOffset.MaxValue.Ticks
        ? new(ticks, TimeSpan.Zero)
        : throw new LinkFormatException("a time is out of range");

    /// <summary>An age that a node of an older version does not say: null then. It ends the item.</summary>
    public TimeSpan? AgeOrNone() => Left == 0 ? null : Age();

    /// <summary>How long ago it was, or how long it will be, up to a hundred years.</summary>
    public TimeSpan Age() => Number() is var ticks && ticks <= MostAge.Ticks ? new(ticks) : throw new LinkFormatException("an age is out of range");

    public MissedEvents Missed(TimeProvider time) => new(Small(), (time.GetUtcNow() - Age()).ToUnixTimeMilliseconds());

    /// <summary>Code and reason of a close frame.</summary>
    public SessionClose Close() => Number() is var code and >= 1000 and < 5000
        ? new((int)code, Text())
        : throw new LinkFormatException("a code of a close frame is out of range");

    public string Text()
    {
        var bytes = Bytes();
        try
        {
            return Utf8.GetString(bytes);
        }
        catch (DecoderFallbackException fault)
        {
            throw new LinkFormatException("a text is not UTF-8", fault);
        }
    }

    /// <summary>A name of a node.</summary>
    public string Name() => Text() is { Length: > 0 and <= MostNameCharacters } name && !name.Any(char.IsControl) ? name : throw new LinkFormatException("a node has no such name");

    public string? OptionalText() => Flag() ? Text() : null;

    public List<string> Texts()
    {
        var count = Number();
        if (count > _left.Length)
        {
            // Each has a length of its own, so that is what so many bytes can hold.
            throw new LinkFormatException("a list is longer than its item");
        }

        var texts = new List<string>((int)count);
        for (; count > 0; count--)
        {
            texts.Add(Text());
        }

        return texts;
    }

    /// <summary>As they lie in the item.</summary>
    public ReadOnlySpan<byte> Bytes() => Number() is var length && length <= _left.Length
        ? Take((int)length)
        : throw new LinkFormatException("a member is longer than its item");

    public SessionKey Key() => new(Text(), Text(), Text(), Text());

    public SessionState State() => Take(1)[0] switch
    {
        (byte)SessionState.Active => SessionState.Active,
        (byte)SessionState.Background => SessionState.Background,
        _ => throw new LinkFormatException("a session has no such state"),
    };

    public ClientIdentity Identity() => new(Text(), Text(), OptionalText(), Texts(), Time());

    public Withdrawal Withdrawal() => new(Text(), Text(), Text(), Time());

    /// <summary>An event of which the hub has made the frame, with the times that it would have on this node's clocks: nothing of it is left to encode, and its body stays at the hub.</summary>
    public Event Frame(TimeProvider time)
    {
        var (id, kind, age, isNowOrNever, left, elapsed) = (Text(), Class(), Age(), Flag(), Age(), Number());
        var now = time.GetUtcNow();
        var ticks = elapsed == 0 ? 0 : TimeSpan.FromTicks(elapsed - 1).TotalSeconds * time.TimestampFrequency;
        var accepted = new Event
        {
            App = "",
            Id = id,
            To = NotHere,
            Class = kind,
            AcceptedAt = now - age,
            ExpiresAt = isNowOrNever ? now - age : now + left,
            AcceptedTimestamp = elapsed == 0 ? 0 : time.GetTimestamp() - (long)ticks,
            CollapseKey = OptionalText(),
        };
        ClientEvent.Take(accepted, Bytes() is { IsEmpty: false } bytes ? bytes.ToArray() : throw new LinkFormatException("a frame is empty"));
        return accepted;
    }

    private EventClass Class() => (EventClass)Take(1)[0] is var kind && Enum.IsDefined(kind) ? kind : throw new LinkFormatException("an event has no such class");

    private ReadOnlySpan<byte> Take(int length)
    {
        if (length > _left.Length)
        {
            throw new LinkFormatException("an item ends within a member");
        }

        var taken = _left[..length];
        _left = _left[length..];
        return taken;
    }
}
