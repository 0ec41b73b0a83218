using System.Text.Json;

namespace Pnh.Sandbox.Fcm;

/// <summary>A message that fits the schema, read by field in either spelling.</summary>
internal sealed class ReceivedFcmMessage
{
    public static readonly string[] TargetFields = ["token", "fid", "topic", "condition"];

    private readonly JsonElement _message;

    public ReceivedFcmMessage(JsonElement request)
    {
        _message = At(request, "message") is { ValueKind: JsonValueKind.Object } message ? message : default;
        ValidateOnly = At(request, "validate_only", "validateOnly") is { ValueKind: JsonValueKind.True };
        Targets = [.. TargetFields.Where(name => Text(name) is not null)];
    }

    public bool ValidateOnly { get; }

    /// <summary>The target fields that are set; one in a correct message.</summary>
    public IReadOnlyList<string> Targets { get; }

    /// <summary>Token, FID, topic or condition.</summary>
    public string Target => Text(Targets[0])!;

    public bool HasMessage => _message.ValueKind == JsonValueKind.Object;

    /// <summary>Whether it goes to one phone.</summary>
    public bool ToOnePhone => Targets[0] is "token" or "fid";

    public JsonElement? Data => Find("android", "data") ?? Find("data");

    /// <summary>A field by its path of snake_case names; null when absent or null.</summary>
    public JsonElement? Find(params ReadOnlySpan<string> path)
    {
        JsonElement? at = _message;
        foreach (string name in path)
        {
            at = at is { ValueKind: JsonValueKind.Object } json ? At(json, name, FcmField.ToCamel(name)) : null;
        }

        return at;
    }

    public string? Text(params ReadOnlySpan<string> path) => Find(path) is { ValueKind: JsonValueKind.String } text ? text.GetString() : null;

    private static JsonElement? At(JsonElement json, params ReadOnlySpan<string> names)
    {
        foreach (string name in names)
        {
            if (json.TryGetProperty(name, out JsonElement value) && value.ValueKind != JsonValueKind.Null)
            {
                return value;
            }
        }

        return null;
    }
}
