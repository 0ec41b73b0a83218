using System.Text.Json;

namespace Pnh.Api.Access;

/// <summary>What is read of a token's JOSE header (RFC 7515 section 4). Nothing in it chooses a key's algorithm or address.</summary>
/// <param name="Algorithm"><c>alg</c>.</param>
/// <param name="KeyId"><c>kid</c>; null when absent.</param>
internal readonly record struct TokenHeader(string Algorithm, string? KeyId)
{
    /// <summary>Duplicate members are refused: two readers could otherwise see two different tokens.</summary>
    public static readonly JsonDocumentOptions Strict = new() { AllowDuplicateProperties = false, MaxDepth = 8 };

    /// <summary>Reads the JSON; false with a reason when it is not a header that can be accepted.</summary>
    public static bool TryRead(ReadOnlyMemory<byte> json, out TokenHeader header, out string? refusal)
    {
        header = default;
        try
        {
            using var document = JsonDocument.Parse(json, Strict);
            var root = document.RootElement;
            refusal = root.TryGetProperty("crit", out _) ? "critical-extension"
                : root.TryGetProperty("typ", out var type) && !IsJwt(type.GetString()) ? "wrong-type"
                : null;
            header = new(
                root.TryGetProperty("alg", out var algorithm) ? algorithm.GetString() ?? "" : "",
                root.TryGetProperty("kid", out var key) ? key.GetString() : null);
            return refusal is null;
        }
        catch (Exception exception) when (exception is JsonException or InvalidOperationException)
        {
            // Not an object, a member of another type, or an escape that is half a surrogate pair.
            refusal = "malformed";
            return false;
        }
    }

    private static bool IsJwt(string? type) =>
        string.Equals(type, "JWT", StringComparison.OrdinalIgnoreCase) || string.Equals(type, "at+jwt", StringComparison.OrdinalIgnoreCase);
}
