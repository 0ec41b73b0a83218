using System.Diagnostics;
using System.Globalization;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>
/// A server frame about an event, encoded once and shared by every session it goes to. Only <c>seq</c> differs per session: it is written
/// between <see cref="Head"/> and <see cref="Tail"/>. Immutable.
/// </summary>
internal sealed class Frame
{
    /// <summary>Room that <c>seq</c> may take: digits of <see cref="long.MaxValue"/>.</summary>
    private const int SeqBytes = 19;

    /// <summary>Room that <see cref="ComposeHead"/> needs.</summary>
    public const int MaxHeadBytes = FrameHeader.MaxServerBytes + 32 + SeqBytes;

    /// <summary>Stands where a written frame stood that must not be written again: it keeps the place of its seq, and its ack confirms nothing.</summary>
    public static Frame Void { get; } = new() { Head = new byte[1], Tail = default, EventId = "" };

    /// <summary>Up to and with <c>"seq":</c>; empty = no seq, no ack, and <see cref="Tail"/> is the whole frame (transient).</summary>
    public ReadOnlyMemory<byte> Head { get; init; }

    /// <summary>The shared bytes.</summary>
    public required ReadOnlyMemory<byte> Tail { get; init; }

    /// <summary>A transient frame with its WebSocket header, the same array for everybody; null for frames with a seq.</summary>
    public byte[]? Wire { get; init; }

    /// <summary>The event that it carries; null for a withdrawal and for what was missed: their acks confirm no event.</summary>
    public Event? Event { get; init; }

    /// <summary>Id of the event that it carries or withdraws; empty = it is of none.</summary>
    public required string EventId { get; init; }

    /// <summary>True for <c>withdraw</c>.</summary>
    public bool IsWithdrawal => Event is null && EventId.Length > 0;

    /// <summary>True for <see cref="Void"/>.</summary>
    public bool IsVoid => ReferenceEquals(this, Void);

    /// <summary>True when the event waited for the session: its age says nothing of the way through the hub.</summary>
    public bool IsReplay { get; init; }

    /// <summary>False for transient frames.</summary>
    public bool HasSeq => !Head.IsEmpty;

    /// <summary>Most bytes that <see cref="Compose"/> writes.</summary>
    public int MaxBytes => Head.Length + SeqBytes + Tail.Length;

    /// <summary>True for what only the present moment wants: transient, or with a TTL of 0. It does not wait for a lost connection.</summary>
    public bool IsMomentary => !HasSeq || Event is { IsNowOrNever: true };

    /// <summary>
    /// True when nothing of the event may be sent any more. A TTL of 0 means "now or never": a live session is now. A withdrawal outlives its
    /// event, since it clears what was shown.
    /// </summary>
    public bool IsExpired(DateTimeOffset now) =>
        Event is { } accepted && now >= accepted.ExpiresAt && accepted.ExpiresAt != accepted.AcceptedAt;

    /// <summary>The same for a frame that was written once already: for an event with a TTL of 0 its moment is over.</summary>
    public bool IsExpiredForRepeat(DateTimeOffset now) => Event is { } accepted && now >= accepted.ExpiresAt;

    /// <summary>Writes the frame with its seq; returns the bytes written. Only for frames that have one.</summary>
    public int Compose(long seq, Span<byte> destination)
    {
        var length = WriteHead(seq, destination);
        Tail.Span.CopyTo(destination[length..]);
        return length + Tail.Length;
    }

    /// <summary>WebSocket header, head and seq, somewhere in <paramref name="room"/>; <see cref="Tail"/> follows on the wire.</summary>
    public ReadOnlySpan<byte> ComposeHead(long seq, Span<byte> room)
    {
        var length = WriteHead(seq, room[FrameHeader.MaxServerBytes..]);
        var start = FrameHeader.MaxServerBytes - FrameHeader.ServerBytes(length + Tail.Length);
        FrameHeader.Write(room[start..], Opcode.Text, length + Tail.Length);
        return room[start..(FrameHeader.MaxServerBytes + length)];
    }

    private int WriteHead(long seq, Span<byte> destination)
    {
        Debug.Assert(HasSeq, "a frame without seq is sent as it is");
        Head.Span.CopyTo(destination);
        seq.TryFormat(destination[Head.Length..], out var digits, provider: CultureInfo.InvariantCulture);
        return Head.Length + digits;
    }
}
