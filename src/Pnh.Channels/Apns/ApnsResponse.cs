using System.Text.Json;
using Pnh.Core.Push;

namespace Pnh.Channels.Apns;

/// <summary>
/// APNs' answers as results (Apple: Handling notification responses from APNs). Reasons outside the table are kept as they came and judged
/// by their HTTP status. An answer without APNs' JSON comes from something in between: it never kills an address. Pure.
/// </summary>
internal static class ApnsResponse
{
    public const string ExpiredProviderToken = "ExpiredProviderToken";
    public const string TooManyRequests = "TooManyRequests";
    public const string TooManyProviderTokenUpdates = "TooManyProviderTokenUpdates";
    public const string Shutdown = "Shutdown";
    public const string IdleTimeout = "IdleTimeout";

    /// <summary>Maps an answer other than 200.</summary>
    /// <param name="status">HTTP status.</param>
    /// <param name="body">The answer's body, or its beginning.</param>
    /// <param name="retryAfter">From the header, clamped; null = none (the hub's own schedule).</param>
    public static DeliveryResult Map(int status, ReadOnlySpan<byte> body, TimeSpan? retryAfter)
    {
        var (reason, deadSince) = Read(body);
        var meaning = reason is null ? WithoutReason(status) : Meaning(reason) ?? UnknownReason(status);
        return new DeliveryResult
        {
            Status = meaning,
            Reason = reason ?? $"http-{status}",
            DeadSince = meaning == DeliveryStatus.AddressDead ? deadSince : null,
            RetryAfter = meaning switch
            {
                DeliveryStatus.Unavailable when reason == TooManyProviderTokenUpdates => retryAfter ?? ApnsCredential.LeastAge,
                DeliveryStatus.Unavailable or DeliveryStatus.Throttled => retryAfter,
                _ => null,
            },
        };
    }

    /// <summary>
    /// Nothing was done with it and the apns-id stays the same. Not when APNs named a time itself, and not when every further request on the
    /// connection would be refused too.
    /// </summary>
    public static bool IsSafeToRetry(DeliveryResult result) =>
        result is { Status: DeliveryStatus.Unavailable, RetryAfter: null, Reason: "InternalServerError" or "ServiceUnavailable" or Shutdown or IdleTimeout };

    /// <summary>The provider's trouble, not a device's, a payload's or the credential's.</summary>
    public static bool IsOutage(DeliveryResult result) =>
        result.Status == DeliveryStatus.Unavailable && result.Reason != TooManyProviderTokenUpdates;

    /// <summary>A refusal of the topic, and not of the key or certificate.</summary>
    public static bool IsOfTopic(DeliveryResult refusal) => refusal.Reason is "BadTopic" or "MissingTopic" or "TopicDisallowed";

    /// <summary>A refusal of the key in this environment, which says nothing of the other one (the second word is what real servers say too).</summary>
    public static bool IsOfEnvironment(DeliveryResult refusal) => refusal.Reason is "BadEnvironmentKeyIdInToken" or "BadEnvironmentKeyInToken";

    private static DeliveryStatus? Meaning(string reason) => reason switch
    {
        "BadDeviceToken" or "DeviceTokenNotForTopic" or "Unregistered" or "ExpiredToken" => DeliveryStatus.AddressDead,
        "BadCollapseId" or "BadExpirationDate" or "BadMessageId" or "BadPriority" or "InvalidPushType" or "DuplicateHeaders"
            or "PayloadEmpty" or "PayloadTooLarge" or "MissingDeviceToken" or "BadPath" or "MethodNotAllowed" => DeliveryStatus.Rejected,
        "BadTopic" or "MissingTopic" or "TopicDisallowed" or "BadCertificate" or "BadCertificateEnvironment" or ExpiredProviderToken
            or "InvalidProviderToken" or "MissingProviderToken" or "UnrelatedKeyIdInToken" or "BadEnvironmentKeyIdInToken"
            or "BadEnvironmentKeyInToken" or "Forbidden" => DeliveryStatus.Misconfigured,
        TooManyRequests => DeliveryStatus.Throttled,
        TooManyProviderTokenUpdates or IdleTimeout or "InternalServerError" or "ServiceUnavailable" or Shutdown => DeliveryStatus.Unavailable,
        _ => null,
    };

    private static DeliveryStatus UnknownReason(int status) => status switch
    {
        410 => DeliveryStatus.AddressDead,
        429 => DeliveryStatus.Throttled,
        403 => DeliveryStatus.Misconfigured,
        >= 500 => DeliveryStatus.Unavailable,
        _ => DeliveryStatus.Rejected,
    };

    /// <summary>A body too large stays too large, whichever server says so; anything else may be gone in a minute.</summary>
    private static DeliveryStatus WithoutReason(int status) => status == 413 ? DeliveryStatus.Rejected : DeliveryStatus.Unavailable;

    /// <summary><c>{"reason":"…","timestamp":ms}</c>; the timestamp comes with 410 only.</summary>
    private static (string? Reason, DateTimeOffset? DeadSince) Read(ReadOnlySpan<byte> body)
    {
        try
        {
            var reader = new Utf8JsonReader(body);
            string? reason = null;
            DateTimeOffset? deadSince = null;
            while (reader.Read())
            {
                if (reader.TokenType != JsonTokenType.PropertyName || reader.CurrentDepth != 1)
                {
                    continue;
                }

                if (reader.ValueTextEquals("reason"u8))
                {
                    reader.Read();
                    reason = reader.TokenType == JsonTokenType.String ? Bounded(reader.GetString()!) : null;
                }
                else if (reader.ValueTextEquals("timestamp"u8))
                {
                    reader.Read();
                    deadSince = reader.TokenType == JsonTokenType.Number && reader.TryGetInt64(out var ms) ? Time(ms) : null;
                }
            }

            return (reason, deadSince);
        }
        catch (JsonException)
        {
            return (null, null);
        }
        catch (InvalidOperationException)
        {
            // A string that is no UTF-8.
            return (null, null);
        }
    }

    // Cut to milliseconds, so that it stands for all of that one: what was registered within it was there before.
    private static DateTimeOffset? Time(long milliseconds) =>
        milliseconds is > 0 and < 253_402_300_800_000 ? DateTimeOffset.FromUnixTimeMilliseconds(milliseconds).AddTicks(TimeSpan.TicksPerMillisecond - 1) : null;

    /// <summary>Reasons go into timelines and logs; Apple's longest has 27 characters.</summary>
    private static string? Bounded(string reason) => reason.Length is > 0 and <= 64 ? reason : null;
}
