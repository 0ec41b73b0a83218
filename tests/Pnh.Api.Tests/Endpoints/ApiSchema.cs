using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Pnh.Api.Documents;

namespace Pnh.Api.Tests.Endpoints;

/// <summary>
/// Holds answers against the API's own description: types, required members, enums, patterns, and no member that it does not name. Knows the part
/// of JSON Schema that the description uses, and fails on a keyword that it does not know.
/// </summary>
internal static class ApiSchema
{
    private static readonly string[] Told = ["description", "examples", "default", "maxItems", "minItems", "minLength", "maxLength", "additionalProperties"];
    private static readonly JsonElement Document = Load();

    /// <summary>Fails with every place where the value is not what <c>components/schemas</c> says.</summary>
    public static void Holds(string schema, JsonElement value) => Holds(Schema(schema), value);

    /// <summary>Every schema that has a name, and its examples.</summary>
    public static IEnumerable<(string Schema, JsonElement Example)> Examples() =>
        from schema in Document.GetProperty("components").GetProperty("schemas").EnumerateObject()
        from example in schema.Value.GetProperty("examples").EnumerateArray()
        select (schema.Name, example);

    /// <summary>The same for the 200 of an operation.</summary>
    public static void HoldsAnswer(string method, string path, JsonElement value) => Holds(
        Document.GetProperty("paths").GetProperty(path).GetProperty(method).GetProperty("responses").GetProperty("200")
            .GetProperty("content").EnumerateObject().Single().Value.GetProperty("schema"),
        value);

    private static void Holds(JsonElement schema, JsonElement value)
    {
        var faults = new List<string>();
        Check(schema, value, "", faults);
        Assert.True(faults.Count == 0, string.Join('\n', faults));
    }

    private static void Check(JsonElement schema, JsonElement value, string at, List<string> faults)
    {
        foreach (var keyword in schema.EnumerateObject())
        {
            switch (keyword.Name)
            {
                case "$ref":
                    Check(Schema(keyword.Value.GetString()!.Split('/')[^1]), value, at, faults);
                    break;
                case "type":
                    Expect(IsOfType(value, keyword.Value.GetString()!), $"{at} is no {keyword.Value}", faults);
                    break;
                case "enum":
                    Expect(keyword.Value.EnumerateArray().Any(one => one.GetRawText() == value.GetRawText()), $"{at} is {value}", faults);
                    break;
                case "const":
                    Expect(keyword.Value.GetRawText() == value.GetRawText(), $"{at} is {value}", faults);
                    break;
                case "minProperties":
                    Expect(value.EnumerateObject().Count() >= keyword.Value.GetInt32(), $"{at} has too few members", faults);
                    break;
                case "maxProperties":
                    Expect(value.EnumerateObject().Count() <= keyword.Value.GetInt32(), $"{at} has too many members", faults);
                    break;
                case "pattern":
                    Expect(Regex.IsMatch(value.GetString()!, keyword.Value.GetString()!), $"{at} is {value}", faults);
                    break;
                case "format":
                    Expect(DateTimeOffset.TryParseExact(value.GetString(), "yyyy-MM-ddTHH:mm:ss.FFFFFFFzzz", CultureInfo.InvariantCulture, DateTimeStyles.None, out _), $"{at} is {value}", faults);
                    break;
                case "minimum":
                    Expect(value.GetDouble() >= keyword.Value.GetDouble(), $"{at} is {value}", faults);
                    break;
                case "maximum":
                    Expect(value.GetDouble() <= keyword.Value.GetDouble(), $"{at} is {value}", faults);
                    break;
                case "required":
                    Expect(keyword.Value.EnumerateArray().All(name => value.TryGetProperty(name.GetString()!, out _)), $"{at} lacks one of {keyword.Value}", faults);
                    break;
                case "items":
                    foreach (var (i, item) in value.EnumerateArray().Index())
                    {
                        Check(keyword.Value, item, $"{at}/{i}", faults);
                    }

                    break;
                case "oneOf":
                    Expect(keyword.Value.EnumerateArray().Count(one => IsHeld(one, value)) == 1, $"{at} is none, or more than one, of {keyword.Value}", faults);
                    break;
                case "properties":
                    CheckMembers(keyword.Value, value, at, faults);
                    break;
                default:
                    Expect(Told.Contains(keyword.Name), $"{at}: unknown keyword {keyword.Name}", faults);
                    break;
            }
        }
    }

    private static bool IsHeld(JsonElement schema, JsonElement value)
    {
        var faults = new List<string>();
        Check(schema, value, "", faults);
        return faults.Count == 0;
    }

    // What is not described is a fault, whether further members are allowed to a sender or not.
    private static void CheckMembers(JsonElement properties, JsonElement value, string at, List<string> faults)
    {
        foreach (var member in value.EnumerateObject())
        {
            if (properties.TryGetProperty(member.Name, out var schema))
            {
                Check(schema, member.Value, $"{at}/{member.Name}", faults);
            }
            else
            {
                faults.Add($"{at}/{member.Name} is not described");
            }
        }
    }

    private static bool IsOfType(JsonElement value, string type) => type switch
    {
        "object" => value.ValueKind == JsonValueKind.Object,
        "array" => value.ValueKind == JsonValueKind.Array,
        "string" => value.ValueKind == JsonValueKind.String,
        "boolean" => value.ValueKind is JsonValueKind.True or JsonValueKind.False,
        "integer" => value.ValueKind == JsonValueKind.Number && value.TryGetInt64(out _),
        "number" => value.ValueKind == JsonValueKind.Number,
        _ => false,
    };

    private static void Expect(bool holds, string fault, List<string> faults)
    {
        if (!holds)
        {
            faults.Add(fault);
        }
    }

    private static JsonElement Schema(string name) => Document.GetProperty("components").GetProperty("schemas").GetProperty(name);

    private static JsonElement Load()
    {
        using var stream = typeof(DocumentEndpoints).Assembly.GetManifestResourceStream("openapi.json")!;
        return JsonSerializer.Deserialize<JsonElement>(stream);
    }
}
