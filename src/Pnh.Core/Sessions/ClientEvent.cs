using System.Buffers;
using System.Text;
using System.Text.Json;
using System.Text.Unicode;
using Pnh.Core.Events;

namespace Pnh.Core.Sessions;

/// <summary>
/// An event as its clients read it (PROTOCOL.md), in JSON: the same bytes for every session, on whatever node. Of a durable event these are the members behind <c>seq</c>, from their comma to the brace that ends the frame; of a
/// transient one the whole frame. Pure functions.
/// </summary>
public static class ClientEvent
{
    private const string Shape = "client";

    // Frames are never put into a page unparsed, and text outside ASCII would grow up to three times.
    private static readonly JsonWriterOptions WriterOptions = new()
    {
        Encoder = PlainJsonEncoder.Shared,
        SkipValidation = true,
    };

    /// <summary>The bytes, made at their first use and kept: for the links that carry them.</summary>
    public static byte[] Of(Event accepted)
    {
        ArgumentNullException.ThrowIfNull(accepted);
        return accepted.Encodings.GetOrAdd(Shape, accepted, static e => Make(e));
    }

    /// <summary>The bytes that another node made, or that a link kept; else they are made now, for a frame that keeps them itself.</summary>
    public static ReadOnlyMemory<byte> FindOrMake(Event accepted)
    {
        ArgumentNullException.ThrowIfNull(accepted);
        return accepted.Encodings.Find<byte[]>(Shape) is { } made ? made : accepted.IsDurable ? Make(accepted) : Write(accepted).WrittenMemory;
    }

    /// <summary>Gives the event the bytes that another node made. Before anything is made of it.</summary>
    public static void Take(Event accepted, byte[] made)
    {
        ArgumentNullException.ThrowIfNull(accepted);
        accepted.Encodings.GetOrAdd(Shape, made, static bytes => bytes);
    }

    /// <summary>Writes <c>data</c> and <c>notification</c> as members of the open object.</summary>
    /// <param name="json">Takes them.</param>
    /// <param name="accepted">Of this event.</param>
    /// <param name="withManner">Also what edges of before version 5 do not know: how a notification comes (channel, interruption, link ...) and texts that an app translates.</param>
    public static void WriteContent(Utf8JsonWriter json, Event accepted, bool withManner)
    {
        ArgumentNullException.ThrowIfNull(json);
        ArgumentNullException.ThrowIfNull(accepted);
        WriteData(json, accepted.Data);
        if (accepted.Notification is { } notification)
        {
            WriteNotification(json, notification, withManner);
        }
    }

    // An array of its own length: a durable event's may wait for days.
    private static byte[] Make(Event accepted)
    {
        var made = Write(accepted).WrittenSpan.ToArray();
        if (accepted.IsDurable)
        {
            made[0] = (byte)','; // continues the object that the frame's head opens
        }

        return made;
    }

    private static ArrayBufferWriter<byte> Write(Event accepted)
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

        return buffer;
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
        WriteContent(json, accepted, withManner: true);
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

    private static void WriteNotification(Utf8JsonWriter json, Notification notification, bool withManner)
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
        if (withManner)
        {
            WriteManner(json, notification);
        }

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

    private static void WriteOptional(Utf8JsonWriter json, ReadOnlySpan<byte> name, string? value)
    {
        if (value is not null)
        {
            json.WriteString(name, value);
        }
    }
}
