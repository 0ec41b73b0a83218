using System.Globalization;
using System.Text.Json;

namespace Pnh.Sandbox.Fcm;

/// <summary>Checks a JSON body against <see cref="FcmSchema"/> as Google's front end does: every mistake at once, in its words.</summary>
internal sealed class FcmSchemaCheck
{
    private readonly List<FcmViolation> _violations = [];

    private FcmSchemaCheck()
    {
    }

    public static List<FcmViolation> Check(JsonElement body)
    {
        FcmSchemaCheck check = new();
        if (body.ValueKind == JsonValueKind.Object)
        {
            check.Message(body, FcmSchema.Request, "");
        }
        else
        {
            check.Add("", "Invalid JSON payload received. Root element must be a message.");
        }

        return check._violations;
    }

    private void Message(JsonElement json, FcmShape shape, string path)
    {
        HashSet<string> seen = new(StringComparer.Ordinal);
        foreach (JsonProperty property in json.EnumerateObject())
        {
            if (shape.Find(property.Name) is not { } field)
            {
                Add(path, $"Invalid JSON payload received. Unknown name \"{property.Name}\"{At(path)}: Cannot find field.");
            }
            else if (!seen.Add(field.Name))
            {
                // Once as snake_case and once as camelCase counts as twice.
                Add(Join(path, field.Name), $"Invalid value{At(path)}, field '{field.Name}' is already set.");
            }
            else if (property.Value.ValueKind != JsonValueKind.Null)
            {
                Field(property.Value, field, Join(path, field.Name));
            }
        }
    }

    private void Field(JsonElement value, FcmField field, string path)
    {
        if (!field.Repeated)
        {
            Value(value, field, path);
            return;
        }

        if (value.ValueKind != JsonValueKind.Array)
        {
            Invalid(value, field, path);
            return;
        }

        int index = 0;
        foreach (JsonElement item in value.EnumerateArray())
        {
            Value(item, field, string.Create(CultureInfo.InvariantCulture, $"{path}[{index++}]"));
        }
    }

    private void Value(JsonElement value, FcmField field, string path)
    {
        switch (field.Type)
        {
            case FcmType.Message when value.ValueKind == JsonValueKind.Object:
                Message(value, field.Shape!, path);
                return;
            case FcmType.TextMap when value.ValueKind == JsonValueKind.Object:
                TextMap(value, path);
                return;
        }

        bool fits = field.Type switch
        {
            FcmType.Text => value.ValueKind == JsonValueKind.String,
            FcmType.Flag => value.ValueKind is JsonValueKind.True or JsonValueKind.False,
            FcmType.Int32 => IsInt32(value),
            FcmType.Float => value.ValueKind == JsonValueKind.Number,
            FcmType.Duration => value.ValueKind == JsonValueKind.String && ProtoDuration.TryParse(value.GetString()!, out _),
            FcmType.Timestamp => value.ValueKind == JsonValueKind.String && IsTimestamp(value.GetString()!),
            FcmType.Enumeration => IsEnumeration(value, field.Values!),
            FcmType.AnyObject => value.ValueKind == JsonValueKind.Object,
            _ => false,
        };
        if (!fits)
        {
            Invalid(value, field, path);
        }
    }

    private void TextMap(JsonElement map, string path)
    {
        int index = 0;
        foreach (JsonProperty entry in map.EnumerateObject())
        {
            if (entry.Value.ValueKind != JsonValueKind.String)
            {
                string at = string.Create(CultureInfo.InvariantCulture, $"{path}[{index}].value");
                Add(at, $"Invalid value at '{at}' (TYPE_STRING), {entry.Value.GetRawText()}");
            }

            index++;
        }
    }

    // proto-JSON takes 32-bit integers as numbers or as decimal strings.
    private static bool IsInt32(JsonElement value) => value.ValueKind switch
    {
        JsonValueKind.Number => value.TryGetInt32(out _),
        JsonValueKind.String => int.TryParse(value.GetString(), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out _),
        _ => false,
    };

    // By name, or by number.
    private static bool IsEnumeration(JsonElement value, string[] values) => value.ValueKind switch
    {
        JsonValueKind.String => Array.IndexOf(values, value.GetString()) >= 0,
        JsonValueKind.Number => value.TryGetInt32(out int number) && number >= 0 && number <= values.Length,
        _ => false,
    };

    private static bool IsTimestamp(string text) => text.Contains('T', StringComparison.Ordinal)
        && (text.EndsWith('Z') || text.LastIndexOfAny(['+', '-']) > text.IndexOf('T', StringComparison.Ordinal))
        && DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, DateTimeStyles.RoundtripKind, out _);

    private void Invalid(JsonElement value, FcmField field, string path) =>
        Add(path, $"Invalid value at '{path}' ({field.TypeName}), {value.GetRawText()}");

    private void Add(string field, string description) => _violations.Add(new FcmViolation(field, description));

    private static string Join(string path, string name) => path.Length == 0 ? name : $"{path}.{name}";

    private static string At(string path) => path.Length == 0 ? "" : $" at '{path}'";
}
