using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Json;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>
/// Encodes <c>event</c> frames once per event (kept in <see cref="Event.Encodings"/>) and <c>withdraw</c> frames once per withdrawal
/// (<see cref="Withdrawal.Encodings"/>). Pure functions.
/// </summary>
internal static class EventFrames
{
    private const string EventShape = "websocket";
    private const string ReplayShape = "websocket/replay";

    private static readonly byte[] EventHead = """{"type":"event","seq":"""u8.ToArray();
    private static readonly byte[] MissedHead = """{"type":"missed","seq":"""u8.ToArray();
    private static readonly byte[] WithdrawHead = """{"type":"withdraw","seq":"""u8.ToArray();

    // Frames are never put into a page unparsed, and text outside ASCII would grow up to three times.
    private static readonly JsonWriterOptions WriterOptions = new()
    {
        Encoder = PlainJsonEncoder.Shared,
        SkipValidation = true,
    };

    /// <summary>The event's frame, made at its first use. A repeat costs no allocation.</summary>
    public static Frame Of(Event accepted) => accepted.Encodings.GetOrAdd(EventShape, accepted, static e => Encode(e));

    /// <summary>The same bytes for a session that the event waited for.</summary>
    public static Frame Replaying(Event accepted) => accepted.Encodings.GetOrAdd(
        ReplayShape,
        accepted,
        static e => new Frame { Head = Of(e).Head, Tail = Of(e).Tail, Event = e, EventId = e.Id, IsReplay = true });

    /// <summary>The frame that takes an event back, made at its first use.</summary>
    public static Frame Of(Withdrawal withdrawal) => withdrawal.Encodings.GetOrAdd(EventShape, withdrawal, static w => Encode(w));

    /// <summary>The frame that tells what ended before its client came.</summary>
    public static Frame Of(MissedEvents missed) => new()
    {
        Head = MissedHead,
        Tail = Encoding.UTF8.GetBytes(string.Create(CultureInfo.InvariantCulture, $",\"count\":{missed.Count},\"since\":{missed.Since}}}")),
        EventId = "",
    };

    private static Frame Encode(Event accepted)
    {
        var members = ClientEvent.FindOrMake(accepted);
        if (accepted.IsDurable)
        {
            return new Frame { Head = EventHead, Tail = members, Event = accepted, EventId = accepted.Id };
        }

        var wire = FrameHeader.Enclose(Opcode.Text, members.Span);
        return new Frame { Tail = wire.AsMemory(wire.Length - members.Length), Wire = wire, Event = accepted, EventId = accepted.Id };
    }

    private static Frame Encode(Withdrawal withdrawal)
    {
        var buffer = new ArrayBufferWriter<byte>(128);
        using (var json = new Utf8JsonWriter(buffer, WriterOptions))
        {
            json.WriteStartObject();
            json.WriteString("id"u8, withdrawal.Event);
            json.WriteString("reason"u8, withdrawal.Reason);
            json.WriteEndObject();
        }

        var tail = buffer.WrittenSpan.ToArray();
        tail[0] = (byte)',';
        return new Frame { Head = WithdrawHead, Tail = tail, EventId = withdrawal.Event };
    }
}
