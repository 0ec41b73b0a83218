using System.Buffers;
using System.Text.Json;
using System.Text.Json.Nodes;
using Pnh.Core.Events;

namespace Pnh.Storage.Segments.Format;

/// <summary>The body of an event to several users, of whom some were erased: the event goes on for the others, and its body names the erased ones no more.</summary>
internal static class BodyWithout
{
    private static readonly (string Object, string List)[] Lists = [("to", "users"), ("except", "users")];
    // Letters stay letters: escapes would make the body longer than it was.
    private static readonly JsonWriterOptions AsItWas = new() { Encoder = PlainJsonEncoder.Shared };
    private static readonly JsonDocumentOptions Json = new() { MaxDepth = Limits.JsonDepth };

    /// <summary>The body without them; null = it names none of them, or cannot be read.</summary>
    public static byte[]? Users(ReadOnlySpan<byte> body, IReadOnlySet<string> users)
    {
        if (Parse(body) is not { } root)
        {
            return null;
        }

        var isChanged = false;
        foreach (var list in Lists)
        {
            for (var i = (Find(root, list)?.Count ?? 0) - 1; i >= 0; i--)
            {
                if (Find(root, list)![i] is JsonValue value && value.TryGetValue<string>(out var name) && users.Contains(name))
                {
                    Find(root, list)!.RemoveAt(i);
                    isChanged = true;
                }
            }
        }

        return isChanged ? Bytes(root) : null;
    }

    /// <summary>Equal as values, but for names that stand in the lists of <paramref name="whole"/> alone.</summary>
    public static bool IsSame(ReadOnlySpan<byte> left, ReadOnlySpan<byte> whole)
    {
        if (Parse(left) is not { } one || Parse(whole) is not { } other)
        {
            return false;
        }

        foreach (var list in Lists)
        {
            if (Find(one, list) is not { } kept || Find(other, list) is not { } all)
            {
                continue;
            }

            var names = Names(kept);
            for (var i = all.Count - 1; i >= 0; i--)
            {
                if (all[i] is not JsonValue value || !value.TryGetValue<string>(out var name) || !names.Contains(name))
                {
                    all.RemoveAt(i);
                }
            }
        }

        return JsonNode.DeepEquals(one, other);
    }

    private static byte[] Bytes(JsonObject root)
    {
        var bytes = new ArrayBufferWriter<byte>();
        using (var writer = new Utf8JsonWriter(bytes, AsItWas))
        {
            root.WriteTo(writer);
        }

        return bytes.WrittenSpan.ToArray();
    }

    private static JsonObject? Parse(ReadOnlySpan<byte> body)
    {
        try
        {
            return JsonNode.Parse(body, documentOptions: Json) as JsonObject;
        }
        catch (Exception fault) when (fault is JsonException or ArgumentException or InvalidOperationException)
        {
            return null;
        }
    }

    private static JsonArray? Find(JsonObject root, (string Object, string List) list) => (root[list.Object] as JsonObject)?[list.List] as JsonArray;

    private static HashSet<string> Names(JsonArray list) =>
        new(list.Select(static node => node is JsonValue value && value.TryGetValue<string>(out var name) ? name : string.Empty), StringComparer.Ordinal);
}
