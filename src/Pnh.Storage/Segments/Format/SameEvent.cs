using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Storage.Segments.Format;

/// <summary>
/// Whether two bodies under one id are one event: equal as values, order of members, white space and number spelling aside, and whether what is so anyway is written out or left out. Of bodies as they were kept,
/// so it holds for those that older builds accepted. Pure.
/// </summary>
internal static class SameEvent
{
    private static readonly JsonDocumentOptions Json = new() { MaxDepth = Limits.JsonDepth };

    /// <param name="standing">The body that was accepted.</param>
    /// <param name="standingLife">Its TTL, whether it says one or not.</param>
    /// <param name="body">The one that comes under the same id.</param>
    /// <param name="life">Its TTL.</param>
    public static bool Is(ReadOnlyMemory<byte> standing, TimeSpan standingLife, ReadOnlyMemory<byte> body, TimeSpan life)
    {
        try
        {
            return AreEqual(standing, body) || AreEqual(Reduced(standing, body, standingLife == life), Reduced(body, standing, standingLife == life));
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            // The latter: half a surrogate pair in an escape. The reader refuses it today, but the journal may hold older bodies.
            return false;
        }
    }

    private static bool AreEqual(ReadOnlyMemory<byte> one, ReadOnlyMemory<byte> other)
    {
        using var first = JsonDocument.Parse(one, Json);
        using var second = JsonDocument.Parse(other, Json);
        return JsonElement.DeepEquals(first.RootElement, second.RootElement);
    }

    private static ReadOnlyMemory<byte> Reduced(ReadOnlyMemory<byte> body, ReadOnlyMemory<byte> other, bool isSameLife)
    {
        var reduced = JsonNode.Parse(body.Span, documentOptions: Json)!.AsObject();
        reduced.Remove("id"); // both have the same, in the body or beside it
        RemoveIf(reduced, "class", static value => value.GetValueKind() == JsonValueKind.String && value.GetValue<string>() == EventClass.Message.Label());
        if (isSameLife && JsonNode.Parse(other.Span, documentOptions: Json) is JsonObject against && !against.ContainsKey("ttl"))
        {
            reduced.Remove("ttl");
        }

        if (reduced["except"] is JsonObject except)
        {
            RemoveEmpty(except, "users", "devices", "sessions");
        }

        if (reduced["notification"] is JsonObject notification)
        {
            RemoveEmpty(notification, "locales", "titleArgs", "bodyArgs");
            RemoveIf(notification, "mutable", static value => value.GetValueKind() == JsonValueKind.False);
            RemoveIf(notification, "volume", static value => value.GetValueKind() == JsonValueKind.Number && value.GetValue<double>() == 1);
        }

        RemoveEmpty(reduced, "except", "ack");
        return Encoding.UTF8.GetBytes(reduced.ToJsonString());
    }

    private static void RemoveIf(JsonObject parent, string name, Func<JsonNode, bool> isSoAnyway)
    {
        if (parent[name] is { } value && isSoAnyway(value))
        {
            parent.Remove(name);
        }
    }

    private static void RemoveEmpty(JsonObject parent, params ReadOnlySpan<string> names)
    {
        foreach (var name in names)
        {
            if (parent[name] is JsonObject { Count: 0 } or JsonArray { Count: 0 })
            {
                parent.Remove(name);
            }
        }
    }
}
