using System.Collections.Frozen;
using System.Text;

namespace Pnh.Sandbox.Fcm;

/// <summary>The types of proto-JSON that FCM's messages use.</summary>
internal enum FcmType
{
    Text,
    Flag,
    Int32,
    Float,
    Duration,
    Timestamp,
    Enumeration,
    Message,
    TextMap,
    AnyObject,
}

/// <summary>One field of a message: its name in snake_case, as in the .proto file, and what Google's error texts call its type.</summary>
internal sealed record FcmField(string Name, FcmType Type, string TypeName, FcmShape? Shape = null, string[]? Values = null, bool Repeated = false)
{
    public string CamelName { get; } = ToCamel(Name);

    public static string ToCamel(string name)
    {
        if (!name.Contains('_', StringComparison.Ordinal))
        {
            return name;
        }

        StringBuilder camel = new(name.Length);
        for (int i = 0; i < name.Length; i++)
        {
            camel.Append(name[i] == '_' ? char.ToUpperInvariant(name[++i]) : name[i]);
        }

        return camel.ToString();
    }
}

/// <summary>A message type: its fields, found by either spelling.</summary>
internal sealed class FcmShape
{
    private readonly FrozenDictionary<string, FcmField> _fields;

    public FcmShape(params FcmField[] fields)
    {
        Dictionary<string, FcmField> names = new(StringComparer.Ordinal);
        foreach (FcmField field in fields)
        {
            names[field.Name] = field;
            names[field.CamelName] = field;
        }

        _fields = names.ToFrozenDictionary(StringComparer.Ordinal);
    }

    public FcmField? Find(string name) => _fields.GetValueOrDefault(name);
}
