using System.Text.Json;

namespace Pnh.Sandbox.Phones;

/// <summary>The keys by which the app on a phone knows an event: at the payload's top, or in its <c>data</c>.</summary>
internal static class EventKeys
{
    private const string Id = "pnh-id";
    private const string Withdraw = "pnh-withdraw";
    private const string PlainWithdraw = "withdraw";
    private const string Reason = "pnh-reason";

    public static string? EventId(JsonElement payload) => Find(payload, Id);

    public static Clearing? Cleared(JsonElement payload) =>
        (Find(payload, Withdraw) ?? Find(payload, PlainWithdraw)) is { } id ? new Clearing(id, Find(payload, Reason)) : null;

    /// <summary>The hub's own key alone, and not in <c>data</c>: in a browser that is the publisher's.</summary>
    public static Clearing? ClearedAtTop(JsonElement payload) =>
        Text(payload, Withdraw) is { } id ? new Clearing(id, Text(payload, Reason)) : null;

    public static string? Text(JsonElement json, string key) =>
        json.ValueKind == JsonValueKind.Object && json.TryGetProperty(key, out JsonElement value) && value.ValueKind == JsonValueKind.String
            ? value.GetString()
            : null;

    private static string? Find(JsonElement payload, string key) =>
        Text(payload, key) ?? (payload.ValueKind == JsonValueKind.Object && payload.TryGetProperty("data", out JsonElement data)
            ? Text(data, key)
            : null);
}
