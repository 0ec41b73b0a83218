using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Pnh.Channels.WebSockets.Rfc6455;
using Pnh.Core.Events;

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

    private static Frame Encode(Event accepted)
    {
        var buffer = new ArrayBufferWriter<byte>(256 + accepted.Data.Length);
        using (var json = new Utf8JsonWriter(buffer, WriterOptions))
        {
            json.WriteStartObject();
            if (!accepted.IsDurable)
            {
                json.WriteString("type"u8, "event"u8);
            }

            WriteMembers(json, accepted);
            json.WriteEndObject();
        }

        if (!accepted.IsDurable)
        {
            var wire = FrameHeader.Enclose(Opcode.Text, buffer.WrittenSpan);
            return new Frame { Tail = wire.AsMemory(wire.Length - buffer.WrittenCount), Wire = wire, Event = accepted, EventId = accepted.Id };
        }

        var tail = buffer.WrittenSpan.ToArray();
        tail[0] = (byte)','; // continues the object that the head opens
        return new Frame { Head = EventHead, Tail = tail, Event = accepted, EventId = accepted.Id };
    }

    private static void WriteMembers(Utf8JsonWriter json, Event accepted)
    {
        json.WriteString("id"u8, accepted.Id);
        json.WriteString("class"u8, accepted.Class.Label());
        if (accepted.IsDurable)
        {
            json.WriteNumber("at"u8, accepted.AcceptedAt.ToUnixTimeMilliseconds());
            json.WriteNumber("ttl"u8, (long)(accepted.ExpiresAt - accepted.AcceptedAt).TotalSeconds);
        }

        WriteOptional(json, "topic"u8, accepted.To.Topic);
        WriteOptional(json, "collapseKey"u8, accepted.CollapseKey);
        WriteOptional(json, "traceparent"u8, accepted.TraceParent);
        WriteData(json, accepted.Data);
        if (accepted.Notification is { } notification)
        {
            WriteNotification(json, notification);
        }
    }

    // Byte for byte, unless the publisher's bytes are no UTF-8: one such text frame would make every client drop its connection (RFC 6455 8.1).
    private static void WriteData(Utf8JsonWriter json, ReadOnlyMemory<byte> data)
    {
        if (data.IsEmpty)
        {
            return;
        }

        json.WritePropertyName("data"u8);
        if (Utf8.IsValid(data.Span))
        {
            json.WriteRawValue(data.Span, skipInputValidation: true);
        }
        else
        {
            json.WriteRawValue(Encoding.UTF8.GetString(data.Span), skipInputValidation: true);
        }
    }

    private static void WriteNotification(Utf8JsonWriter json, Notification notification)
    {
        json.WriteStartObject("notification"u8);
        WriteOptional(json, "title"u8, notification.Title);
        WriteOptional(json, "subtitle"u8, notification.Subtitle);
        WriteOptional(json, "body"u8, notification.Body);
        WriteOptional(json, "sound"u8, notification.Sound);
        if (notification.Badge is { } badge)
        {
            json.WriteNumber("badge"u8, badge);
        }

        WriteOptional(json, "image"u8, notification.Image);
        WriteOptional(json, "category"u8, notification.Category);
        WriteOptional(json, "thread"u8, notification.Thread);
        WriteManner(json, notification);
        if (notification.Locales is { Count: > 0 } locales)
        {
            WriteLocales(json, locales);
        }

        json.WriteEndObject();
    }

    private static void WriteManner(Utf8JsonWriter json, Notification notification)
    {
        WriteOptional(json, "channel"u8, notification.Channel);
        WriteOptional(json, "interruption"u8, notification.Interruption?.Label());
        if (notification.Volume is { } volume)
        {
            json.WriteNumber("volume"u8, volume);
        }

        if (notification.Relevance is { } relevance)
        {
            json.WriteNumber("relevance"u8, relevance);
        }

        if (notification.IsMutable)
        {
            json.WriteBoolean("mutable"u8, true);
        }

        WriteOptional(json, "link"u8, notification.Link);
        WriteKey(json, "titleKey"u8, notification.TitleKey, "titleArgs"u8, notification.TitleArgs);
        WriteKey(json, "bodyKey"u8, notification.BodyKey, "bodyArgs"u8, notification.BodyArgs);
    }

    private static void WriteKey(Utf8JsonWriter json, ReadOnlySpan<byte> name, string? key, ReadOnlySpan<byte> argumentsName, IReadOnlyList<string> arguments)
    {
        WriteOptional(json, name, key);
        if (arguments.Count == 0)
        {
            return;
        }

        json.WriteStartArray(argumentsName);
        foreach (var argument in arguments)
        {
            json.WriteStringValue(argument);
        }

        json.WriteEndArray();
    }

    private static void WriteLocales(Utf8JsonWriter json, IReadOnlyDictionary<string, LocalizedText> locales)
    {
        json.WriteStartObject("locales"u8);
        foreach (var (locale, text) in locales)
        {
            json.WriteStartObject(locale);
            WriteOptional(json, "title"u8, text.Title);
            WriteOptional(json, "subtitle"u8, text.Subtitle);
            WriteOptional(json, "body"u8, text.Body);
            json.WriteEndObject();
        }

        json.WriteEndObject();
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

    private static void WriteOptional(Utf8JsonWriter json, ReadOnlySpan<byte> name, string? value)
    {
        if (value is not null)
        {
            json.WriteString(name, value);
        }
    }
}
