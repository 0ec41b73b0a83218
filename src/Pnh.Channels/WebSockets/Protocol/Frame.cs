using System.Diagnostics;
using System.Globalization;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>
/// A server frame that belongs to an event, encoded once and shared by every session it goes to. Only <c>seq</c> differs per session: it is
/// written between <see cref="Head"/> and <see cref="Tail"/>. Immutable.
/// </summary>
internal sealed class Frame
{
    /// <summary>Room that <c>seq</c> may take: digits of <see cref="long.MaxValue"/>.</summary>
    private const int SeqBytes = 19;

    /// <summary>Up to and with <c>"seq":</c>; empty = no seq, no ack, and <see cref="Tail"/> is the whole frame (transient).</summary>
    public required ReadOnlyMemory<byte> Head { get; init; }

    /// <summary>The shared bytes.</summary>
    public required byte[] Tail { get; init; }

    /// <summary>The event that it carries or withdraws.</summary>
    public required Event Event { get; init; }

    /// <summary>True for <c>withdraw</c>: its ack confirms no event.</summary>
    public bool IsWithdrawal { get; init; }

    /// <summary>True when the event waited for the session: its age says nothing of the way through the hub.</summary>
    public bool IsReplay { get; init; }

    /// <summary>False for transient frames.</summary>
    public bool HasSeq => !Head.IsEmpty;

    /// <summary>Most bytes that <see cref="Compose"/> writes.</summary>
    public int MaxBytes => Head.Length + SeqBytes + Tail.Length;

    /// <summary>
    /// True when nothing of the event may be sent any more. A TTL of 0 means "now or never": a live session is now. A withdrawal outlives its
    /// event, since it clears what was shown.
    /// </summary>
    public bool IsExpired(DateTimeOffset now) =>
        !IsWithdrawal && now >= Event.ExpiresAt && Event.ExpiresAt != Event.AcceptedAt;

    /// <summary>Writes the frame with its seq; returns the bytes written. Only for frames that have one.</summary>
    public int Compose(long seq, Span<byte> destination)
    {
        Debug.Assert(HasSeq, "a frame without seq is sent as it is");
        Head.Span.CopyTo(destination);
        var length = Head.Length;
        seq.TryFormat(destination[length..], out var digits, provider: CultureInfo.InvariantCulture);
        length += digits;
        Tail.CopyTo(destination[length..]);
        return length + Tail.Length;
    }
}
