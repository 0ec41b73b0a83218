using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Channels.Http;

/// <summary>Building and overriding JSON payloads. Used once per event and shape, never per delivery. Pure functions.</summary>
internal static class PayloadMerge
{
    /// <summary>Providers count bytes, and this text never stands in HTML: only what JSON itself demands is escaped.</summary>
    public static readonly JsonWriterOptions WriterOptions = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

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
