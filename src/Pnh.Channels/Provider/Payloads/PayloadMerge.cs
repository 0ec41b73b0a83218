using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Channels.Provider.Payloads;

/// <summary>What of an event goes into a payload.</summary>
internal enum PayloadParts
{
    /// <summary>Texts, data, override.</summary>
    All,

    /// <summary>Texts and override: a wake-up push (<see cref="FetchPush"/>).</summary>
    Override,

    /// <summary>Texts: a wake-up push where the override takes too much room.</summary>
    Texts,
}

/// <summary>Building and overriding JSON payloads. Used once per event and shape, never per delivery. Pure functions.</summary>
internal static class PayloadMerge
{
    /// <summary>Providers count bytes, and this text never stands in HTML: only what JSON itself demands is escaped.</summary>
    public static readonly JsonWriterOptions WriterOptions = new() { Encoder = PlainJsonEncoder.Shared };

    private static readonly JsonDocumentOptions Strict = new() { AllowDuplicateProperties = false, MaxDepth = Limits.JsonDepth };

    /// <summary>The event's raw override for a channel; null when it has none. Throws <see cref="JsonException"/> when it is no object or has duplicate members.</summary>
    public static JsonObject? ReadOverride(Event accepted, string channel)
    {
        if (accepted.Overrides is null || !accepted.Overrides.TryGetValue(channel, out var json))
        {
            return null;
        }

        return JsonNode.Parse(json.Span, documentOptions: Strict) as JsonObject ?? throw new JsonException("not an object");
    }

    /// <summary>The override of an event that is being taken in; null, with an error, when a member stands twice.</summary>
    public static JsonObject? CheckOverride(ReadOnlyMemory<byte> json, ICollection<FieldError> errors)
    {
        try
        {
            return JsonNode.Parse(json.Span, documentOptions: Strict) as JsonObject;
        }
        catch (JsonException)
        {
            // The reader of the event made sure that it is JSON of no great depth.
            errors.Add(new FieldError("", "duplicate-member", "A member in it is given twice."));
            return null;
        }
    }

    /// <summary>Takes out what removes (null), down to <paramref name="depth"/> levels: the rest is what an override adds to a payload.</summary>
    public static void RemoveNulls(JsonObject patch, int depth)
    {
        foreach (var (name, value) in patch.ToArray())
        {
            if (value is null)
            {
                patch.Remove(name);
            }
            else if (depth > 0 && value is JsonObject inner)
            {
                RemoveNulls(inner, depth - 1);
            }
        }
    }

    /// <summary>The error of an override that fills more than a payload may hold.</summary>
    public static FieldError TooLong(int most) => new("", "too-long", $"At most {most} bytes: the provider takes no more.");

    /// <summary>The publisher's data as a node, members and numbers as they were sent; null when there is none.</summary>
    public static JsonNode? ReadData(Event accepted) => accepted.Data.IsEmpty ? null : JsonNode.Parse(accepted.Data.Span);

    /// <summary>
    /// Puts every member of <paramref name="patch"/> over the one in <paramref name="target"/>; a null removes. Where both are objects they
    /// are merged in turn, down to <paramref name="depth"/> levels (0: a member replaces as a whole). Empties <paramref name="patch"/>.
    /// </summary>
    public static void Apply(JsonObject target, JsonObject patch, int depth)
    {
        foreach (var (name, value) in patch.ToArray())
        {
            patch.Remove(name);
            if (value is null)
            {
                target.Remove(name);
            }
            else if (depth > 0 && value is JsonObject inner && target[name] is JsonObject mine)
            {
                Apply(mine, inner, depth - 1);
            }
            else
            {
                target[name] = value;
            }
        }
    }

    /// <summary>Adds a list of texts; none where it is empty.</summary>
    public static void AddTexts(JsonObject target, string name, IReadOnlyList<string> texts)
    {
        if (texts.Count > 0)
        {
            target[name] = new JsonArray([.. texts.Select(static text => (JsonNode)text)]);
        }
    }

    /// <summary>UTF-8 of the node.</summary>
    public static byte[] Write(JsonNode node)
    {
        using var stream = new MemoryStream();
        using (var writer = new Utf8JsonWriter(stream, WriterOptions))
        {
            node.WriteTo(writer);
        }

        return stream.ToArray();
    }
}
