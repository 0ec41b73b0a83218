using System.Text.Json;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Apns;

/// <summary>The rules for the body: size, a JSON object, and that it is what its push type says.</summary>
internal static class ReceivedApnsPayload
{
    /// <summary>What APNs answers to an unusable body. Apple has no reason for malformed JSON; this is the nearest.</summary>
    private const string Unusable = ApnsReason.PayloadEmpty;

    public static string? Check(ReadOnlyMemory<byte> body, PushTypeHeader type, SandboxViolations violations, out JsonElement payload)
    {
        payload = default;
        if (body.Length == 0)
        {
            return ApnsReason.PayloadEmpty;
        }

        if (body.Length > type.MaxPayloadBytes)
        {
            return ApnsReason.PayloadTooLarge;
        }

        payload = StrictJson.Parse(body, out _, allowDuplicates: true) ?? default;
        string? reason = payload.ValueKind == JsonValueKind.Object ? CheckAps(payload, type) : Unusable;
        if (reason is not null)
        {
            violations.Add(ViolationKind.UselessPayloads);
        }

        return reason;
    }

    private static string? CheckAps(JsonElement payload, PushTypeHeader type)
    {
        if (!payload.TryGetProperty("aps", out JsonElement aps) || aps.ValueKind != JsonValueKind.Object)
        {
            return type.NeedsAps || aps.ValueKind != JsonValueKind.Undefined ? Unusable : null;
        }

        bool visible = aps.TryGetProperty("alert", out _) || aps.TryGetProperty("sound", out _) || aps.TryGetProperty("badge", out _);
        bool wakes = aps.TryGetProperty("content-available", out JsonElement flag)
            && flag.ValueKind == JsonValueKind.Number && flag.TryGetInt32(out int one) && one == 1;
        bool fits = type.Name switch
        {
            "background" => wakes && !visible,
            "alert" => visible || !wakes,
            "liveactivity" => aps.TryGetProperty("event", out JsonElement e) && e.ValueKind == JsonValueKind.String
                && aps.TryGetProperty("timestamp", out JsonElement t) && t.ValueKind == JsonValueKind.Number,
            _ => true,
        };
        return fits ? null : ApnsReason.InvalidPushType;
    }
}
