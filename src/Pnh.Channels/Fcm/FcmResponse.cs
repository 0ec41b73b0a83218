using System.Text.Json;
using Pnh.Channels.Net.Http;
using Pnh.Core.Push;

namespace Pnh.Channels.Fcm;

/// <summary>
/// FCM's answers as results (FCM: REST ErrorCode; "Best practices when sending FCM messages at scale"). The error code among the details
/// decides, found by its <c>@type</c>; the HTTP status alone never kills an address, since anything on the way can answer 404. Pure.
/// </summary>
internal static class FcmResponse
{
    /// <summary>A 429 without Retry-After.</summary>
    public static readonly TimeSpan QuotaPause = TimeSpan.FromSeconds(60);

    /// <summary>The least after a 5xx without Retry-After; up to as much again.</summary>
    public static readonly TimeSpan OutagePause = TimeSpan.FromSeconds(10);

    /// <summary>The reason when the project sends more than its quota: the pace of everything slows down.</summary>
    public const string ProjectQuota = "QUOTA_EXCEEDED:project";

    private const string FcmErrorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
    private const string BadRequestType = "type.googleapis.com/google.rpc.BadRequest";

    /// <summary>Message name (<c>projects/P/messages/ID</c>) out of a 200; null when it cannot be read.</summary>
    public static string? ReadName(ReadOnlyMemory<byte> body)
    {
        try
        {
            using var document = JsonDocument.Parse(body);
            return Text(document.RootElement, "name");
        }
        catch (JsonException)
        {
            return null;
        }
    }

    /// <summary>Maps an answer other than 200.</summary>
    public static DeliveryResult Map(int status, ReadOnlyMemory<byte> body, TimeSpan? retryAfter)
    {
        try
        {
            using var document = JsonDocument.Parse(body);
            if (document.RootElement.ValueKind == JsonValueKind.Object
                && document.RootElement.TryGetProperty("error", out var error) && error.ValueKind == JsonValueKind.Object)
            {
                return Map(status, error, retryAfter);
            }
        }
        catch (JsonException)
        {
            // A proxy's page, or an answer cut off at 64 kB.
        }

        return WithoutCode(status, $"http-{status}", retryAfter, isGoogles: false);
    }

    /// <summary>The provider's trouble, not a device's, a payload's, a quota's or the credential's.</summary>
    public static bool IsOutage(DeliveryResult result) =>
        result.Status == DeliveryStatus.Unavailable && result.Reason is "UNAVAILABLE" or "INTERNAL"
        || result is { Status: DeliveryStatus.Unavailable, Reason: { } reason } && reason.StartsWith("http-5", StringComparison.Ordinal);

    private static DeliveryResult Map(int status, JsonElement error, TimeSpan? retryAfter)
    {
        var details = error.TryGetProperty("details", out var found) && found.ValueKind == JsonValueKind.Array ? found : default;
        var code = Text(Detail(details, FcmErrorType), "errorCode");
        return code switch
        {
            "UNREGISTERED" or "SENDER_ID_MISMATCH" => DeliveryResult.Of(DeliveryStatus.AddressDead, code),
            "INVALID_ARGUMENT" => InvalidArgument(error, details),
            "QUOTA_EXCEEDED" => Quota(error, details, retryAfter),
            "UNAVAILABLE" or "INTERNAL" => Unavailable(code, retryAfter ?? RetryAfter.Jittered(OutagePause)),

            // Concerns this project's iOS or web targets only, so the account goes on for the others.
            "THIRD_PARTY_AUTH_ERROR" or "APNS_AUTH_ERROR" or "UNSPECIFIED_ERROR" => DeliveryResult.Of(DeliveryStatus.Rejected, code),
            not null => WithoutCode(status, code, retryAfter, isGoogles: true),
            null when Text(error, "status") == "INVALID_ARGUMENT" => InvalidArgument(error, details),

            // Google's front end, before FCM itself is asked: so the project's quota is answered (firebase-admin-go #719).
            null when status == 429 && Text(error, "status") == "RESOURCE_EXHAUSTED" => Quota(error, details, retryAfter),
            null => WithoutCode(status, Text(error, "status") ?? $"http-{status}", retryAfter, isGoogles: true),
        };
    }

    /// <summary>By HTTP status, when no FCM code that we know says more.</summary>
    private static DeliveryResult WithoutCode(int status, string reason, TimeSpan? retryAfter, bool isGoogles) => status switch
    {
        429 => Unavailable(reason, retryAfter ?? QuotaPause),
        >= 500 => Unavailable(reason, retryAfter ?? RetryAfter.Jittered(OutagePause)),
        401 or 403 when isGoogles => DeliveryResult.Of(DeliveryStatus.Misconfigured, reason),
        413 => DeliveryResult.Of(DeliveryStatus.Rejected, reason),
        _ when isGoogles => DeliveryResult.Of(DeliveryStatus.Rejected, reason),
        _ => Unavailable(reason, retryAfter ?? RetryAfter.Jittered(OutagePause)),
    };

    /// <summary>Our payload was checked before, so when the address is what FCM dislikes, it never was one.</summary>
    private static DeliveryResult InvalidArgument(JsonElement error, JsonElement details)
    {
        var dead = Text(error, "message")?.Contains("not a valid FCM registration token", StringComparison.OrdinalIgnoreCase) == true;
        if (Detail(details, BadRequestType) is { ValueKind: JsonValueKind.Object } request
            && request.TryGetProperty("fieldViolations", out var violations) && violations.ValueKind == JsonValueKind.Array)
        {
            foreach (var violation in violations.EnumerateArray())
            {
                dead |= Text(violation, "field") is "message.token" or "message.fid";
            }
        }

        return DeliveryResult.Of(dead ? DeliveryStatus.AddressDead : DeliveryStatus.Rejected, "INVALID_ARGUMENT");
    }

    /// <summary>A device's quota delays that device; a project's or topic's everything of the account.</summary>
    private static DeliveryResult Quota(JsonElement error, JsonElement details, TimeSpan? retryAfter)
    {
        var kind = FcmQuotas.Find(error, details);
        return new DeliveryResult
        {
            Status = kind == FcmQuota.Device ? DeliveryStatus.Throttled : DeliveryStatus.Unavailable,
            Reason = kind switch
            {
                FcmQuota.Device => "QUOTA_EXCEEDED:device",
                FcmQuota.Topic => "QUOTA_EXCEEDED:topic",
                _ => ProjectQuota,
            },
            RetryAfter = retryAfter ?? QuotaPause,
        };
    }

    private static DeliveryResult Unavailable(string reason, TimeSpan retryAfter) =>
        new() { Status = DeliveryStatus.Unavailable, Reason = reason, RetryAfter = retryAfter };

    /// <summary>The detail of this type; undefined when there is none.</summary>
    public static JsonElement Detail(JsonElement details, string type)
    {
        if (details.ValueKind == JsonValueKind.Array)
        {
            foreach (var detail in details.EnumerateArray())
            {
                if (Text(detail, "@type") == type)
                {
                    return detail;
                }
            }
        }

        return default;
    }

    /// <summary>A string member; null when there is none. Cut at 256 characters: it may go into a timeline.</summary>
    public static string? Text(JsonElement parent, string name) =>
        parent.ValueKind == JsonValueKind.Object && parent.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String
            ? value.GetString() is { Length: > 256 } text ? text[..256] : value.GetString()
            : null;
}
