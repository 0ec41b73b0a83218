using System.Globalization;
using System.Text.Json;
using Pnh.Channels.Net.Http;
using Pnh.Core.Push;

namespace Pnh.Channels.WebPush;

/// <summary>
/// A push service's answers as results (RFC 8030 sections 5 to 7, RFC 8292 section 4.2). The status decides, since the RFCs give bodies no form; Apple's
/// <c>reason</c>, Mozilla's <c>errno</c> and Windows' headers are kept as words. Pure.
/// </summary>
internal static class WebPushResponse
{
    /// <summary>A 429 without Retry-After.</summary>
    public static readonly TimeSpan QuotaPause = TimeSpan.FromSeconds(60);

    /// <summary>The least after a 5xx without Retry-After; up to as much again.</summary>
    public static readonly TimeSpan OutagePause = TimeSpan.FromSeconds(10);

    /// <summary>A 413, and what was found to be too large here.</summary>
    public const string TooLarge = "payload-too-large";

    /// <summary>The subscription was made for another public key than ours: about this address, not about the account.</summary>
    private const string KeyMismatch = "vapid-key-mismatch";

    /// <summary>A message's address lets its holder cancel it, so only this much of its end is kept: enough to ask a push service about it.</summary>
    private const int MaxIdCharacters = 40;

    public static DeliveryResult Map(in ProviderAnswer answer, TimeSpan? retryAfter)
    {
        var said = WindowsPush.Reason(answer);
        return answer.Status is not (>= 200 and < 300) ? Map(answer.Status, answer.Body, retryAfter, said)
            : WindowsPush.IsDropped(answer) ? DeliveryResult.Of(DeliveryStatus.Rejected, said)
            : WindowsPush.IsThrottled(answer) ? Later(DeliveryStatus.Throttled, said!, retryAfter ?? QuotaPause)
            : new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = MessageId(answer) };
    }

    /// <summary>Maps an answer other than 2xx.</summary>
    /// <param name="status">HTTP status.</param>
    /// <param name="body">The answer's body, or its beginning.</param>
    /// <param name="retryAfter">From the header, clamped; null = none.</param>
    /// <param name="said">The reason in headers; null = none, then it is looked for in the body.</param>
    public static DeliveryResult Map(int status, ReadOnlyMemory<byte> body, TimeSpan? retryAfter, string? said = null)
    {
        var reason = said ?? Reason(status, body);
        return status switch
        {
            404 or 410 => DeliveryResult.Of(DeliveryStatus.AddressDead, reason),
            413 => DeliveryResult.Of(DeliveryStatus.Rejected, TooLarge),

            // 406 is how Windows says that we send too much.
            429 or 406 => Later(DeliveryStatus.Throttled, reason, retryAfter ?? QuotaPause),
            408 or >= 500 => Later(DeliveryStatus.Unavailable, reason, retryAfter ?? RetryAfter.Jittered(OutagePause)),
            _ when IsKeyMismatch(reason, body.Span) => DeliveryResult.Of(DeliveryStatus.Rejected, KeyMismatch),
            401 or 403 => DeliveryResult.Of(DeliveryStatus.Misconfigured, reason),
            >= 300 and < 400 => DeliveryResult.Of(DeliveryStatus.Rejected, "redirect-refused"),
            _ => DeliveryResult.Of(DeliveryStatus.Rejected, reason),
        };
    }

    /// <summary>The push service's trouble, not a subscription's, a payload's, a quota's or the credential's.</summary>
    public static bool IsOutage(DeliveryResult result) => result.Status == DeliveryStatus.Unavailable;

    private static DeliveryResult Later(DeliveryStatus status, string reason, TimeSpan retryAfter) =>
        new() { Status = status, Reason = reason, RetryAfter = retryAfter };

    /// <summary>Apple names it, Mozilla and Google say it in words.</summary>
    private static bool IsKeyMismatch(string reason, ReadOnlySpan<byte> body) =>
        reason == "VapidPkHashMismatch" || body.IndexOf("public key mismatch"u8) >= 0 || body.IndexOf("do not correspond to the credentials"u8) >= 0;

    private static string Reason(int status, ReadOnlyMemory<byte> body)
    {
        var plain = string.Create(CultureInfo.InvariantCulture, $"http-{status}");
        try
        {
            using var document = JsonDocument.Parse(body);
            if (document.RootElement.ValueKind != JsonValueKind.Object)
            {
                return plain;
            }

            if (document.RootElement.TryGetProperty("reason", out var reason) && reason.ValueKind == JsonValueKind.String)
            {
                return reason.GetString() is { Length: > 0 and <= 64 } word ? word : plain;
            }

            return document.RootElement.TryGetProperty("errno", out var number) && number.TryGetInt32(out var errno)
                ? string.Create(CultureInfo.InvariantCulture, $"errno-{errno}")
                : plain;
        }
        catch (Exception exception) when (exception is JsonException or InvalidOperationException)
        {
            // Most push services answer in plain words.
            return plain;
        }
    }

    private static string? MessageId(in ProviderAnswer answer)
    {
        if (answer.ApnsId is { } apnsId)
        {
            return apnsId;
        }

        if (answer.Location is not { Length: > 0 } location)
        {
            return null;
        }

        var id = location[(location.LastIndexOf('/') + 1)..];
        return id.Length > MaxIdCharacters ? id[..MaxIdCharacters] : id;
    }
}
