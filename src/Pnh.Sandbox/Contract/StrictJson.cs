using System.Text.Json;
using System.Text.Unicode;

namespace Pnh.Sandbox.Contract;

/// <summary>JSON whose every string can be read: the parser alone lets bytes that are no UTF-8, and half surrogates, pass until they are used.</summary>
internal static class StrictJson
{
    private const int MaxDepth = 64;

    /// <summary>The root, or null and what is wrong.</summary>
    public static JsonElement? Parse(ReadOnlyMemory<byte> utf8, out string error, bool allowDuplicates = false)
    {
        error = "";
        if (!Utf8.IsValid(utf8.Span))
        {
            error = "The bytes are not UTF-8.";
            return null;
        }

        try
        {
            JsonDocumentOptions options = new() { AllowDuplicateProperties = allowDuplicates, MaxDepth = MaxDepth };
            using JsonDocument json = JsonDocument.Parse(utf8, options);
            ReadStrings(json.RootElement);
            return json.RootElement.Clone();
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException)
        {
            error = e.Message;
            return null;
        }
    }

    private static void ReadStrings(JsonElement json)
    {
        switch (json.ValueKind)
        {
            case JsonValueKind.String:
                _ = json.GetString();
                break;
            case JsonValueKind.Object:
                foreach (JsonProperty member in json.EnumerateObject())
                {
                    _ = member.Name;
                    ReadStrings(member.Value);
                }

                break;
            case JsonValueKind.Array:
                foreach (JsonElement item in json.EnumerateArray())
                {
                    ReadStrings(item);
                }

                break;
        }
    }
}
