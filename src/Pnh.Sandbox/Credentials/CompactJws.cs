using System.Buffers.Text;
using System.Text;
using System.Text.Json;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Credentials;

/// <summary>A JWS in compact form (RFC 7515 section 7.1), read as strictly as the RFC allows: base64url without padding, line breaks or stray bits.</summary>
internal sealed class CompactJws
{
    private CompactJws(JsonElement header, JsonElement claims, byte[] signed, byte[] signature)
    {
        Header = header;
        Claims = claims;
        Signed = signed;
        Signature = signature;
    }

    public JsonElement Header { get; }

    public JsonElement Claims { get; }

    /// <summary>The bytes under the signature.</summary>
    public byte[] Signed { get; }

    public byte[] Signature { get; }

    public static CompactJws? Parse(string text)
    {
        string[] parts = text.Split('.');
        return parts.Length == 3 && Decode(parts[0]) is { } header && Decode(parts[1]) is { } claims && Decode(parts[2]) is { } signature
            && ParseObject(header) is { } headerJson && ParseObject(claims) is { } claimsJson
            ? new CompactJws(headerJson, claimsJson, Encoding.ASCII.GetBytes($"{parts[0]}.{parts[1]}"), signature)
            : null;
    }

    public static string? Text(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.String ? value.GetString() : null;

    /// <summary>A NumericDate in whole seconds (RFC 7519 section 2), or null.</summary>
    public static long? Seconds(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.Number && value.TryGetInt64(out long seconds)
            ? seconds
            : null;

    /// <summary>The bytes; null for an empty text, and for what is not the one way to write them.</summary>
    public static byte[]? Decode(string part)
    {
        // The decoder alone would forgive padding, white space and non-zero bits after the last byte.
        if (part.Length == 0 || !Base64Url.IsValid(part))
        {
            return null;
        }

        byte[] bytes = Base64Url.DecodeFromChars(part);
        return Base64Url.EncodeToString(bytes) == part ? bytes : null;
    }

    private static JsonElement? ParseObject(byte[] utf8) =>
        StrictJson.Parse(utf8, out _) is { ValueKind: JsonValueKind.Object } json ? json : null;
}
