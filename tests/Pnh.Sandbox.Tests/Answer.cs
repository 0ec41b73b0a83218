using System.Text.Json;

namespace Pnh.Sandbox.Tests;

/// <summary>An answer read whole.</summary>
internal sealed record Answer(int Status, string Body, IReadOnlyDictionary<string, string> Headers)
{
    public string? Reason => Body.Length == 0 ? null : Json.GetProperty("reason").GetString();

    public JsonElement Json => JsonDocument.Parse(Body).RootElement;

    /// <summary>The <c>error</c> of Google's shape.</summary>
    public JsonElement Error => Json.GetProperty("error");

    public JsonElement? Detail(string type) => Error.GetProperty("details").EnumerateArray()
        .Where(detail => detail.GetProperty("@type").GetString() == "type.googleapis.com/" + type)
        .Select(detail => (JsonElement?)detail).FirstOrDefault();

    public string? ErrorCode => Detail("google.firebase.fcm.v1.FcmError")?.GetProperty("errorCode").GetString();

    public List<string> ViolatedFields => Detail("google.rpc.BadRequest") is { } detail
        ? [.. detail.GetProperty("fieldViolations").EnumerateArray().Select(v => v.TryGetProperty("field", out JsonElement f) ? f.GetString()! : "")]
        : [];

    public static async Task<Answer> ReadAsync(HttpResponseMessage response, CancellationToken cancellationToken)
    {
        string body = await response.Content.ReadAsStringAsync(cancellationToken);
        Dictionary<string, string> headers = response.Headers.Concat(response.Content.Headers)
            .ToDictionary(header => header.Key, header => string.Join(",", header.Value), StringComparer.OrdinalIgnoreCase);
        return new Answer((int)response.StatusCode, body, headers);
    }
}
