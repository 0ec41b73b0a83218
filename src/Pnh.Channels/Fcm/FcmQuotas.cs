using System.Text.Json;

namespace Pnh.Channels.Fcm;

/// <summary>
/// Whose quota a 429 speaks of. FCM itself says it by QuotaFailure; Google's front end, which counts the project's sends, by ErrorInfo alone. What names neither
/// a device nor a topic is the project's: to go on would cost the quota of the next minute too. Pure.
/// </summary>
internal static class FcmQuotas
{
    private const string QuotaFailureType = "type.googleapis.com/google.rpc.QuotaFailure";
    private const string ErrorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";

    /// <param name="error">The answer's error object.</param>
    /// <param name="details">Its details.</param>
    public static FcmQuota Find(JsonElement error, JsonElement details)
    {
        var kind = OfFailure(FcmResponse.Detail(details, QuotaFailureType));
        kind = kind == FcmQuota.None ? OfInfo(FcmResponse.Detail(details, ErrorInfoType)) : kind;
        kind = kind == FcmQuota.None ? Named(FcmResponse.Text(error, "message")) : kind;
        return kind == FcmQuota.None ? FcmQuota.Project : kind;
    }

    private static FcmQuota OfFailure(JsonElement failure)
    {
        var kind = FcmQuota.None;
        if (failure.ValueKind == JsonValueKind.Object
            && failure.TryGetProperty("violations", out var violations) && violations.ValueKind == JsonValueKind.Array)
        {
            foreach (var violation in violations.EnumerateArray())
            {
                kind = (FcmQuota)Math.Max((int)kind, (int)OfViolation(violation));
            }
        }

        return kind;
    }

    /// <summary>
    /// Google's convention for a subject is <c>kind:id</c> (google.rpc.QuotaFailure); where FCM leaves it out, its three quotas are told apart by the name of
    /// the quota in the description ("message rate", "device message rate", "topic message rate").
    /// </summary>
    private static FcmQuota OfViolation(JsonElement violation)
    {
        var subject = FcmResponse.Text(violation, "subject") ?? "";
        var colon = subject.IndexOf(':', StringComparison.Ordinal);
        return (colon < 0 ? subject : subject[..colon]).ToLowerInvariant() switch
        {
            "device" => FcmQuota.Device,
            "topic" => FcmQuota.Topic,
            "project" or "projects" => FcmQuota.Project,
            _ => Named(FcmResponse.Text(violation, "description")),
        };
    }

    /// <summary><c>quota_limit</c> SendsPerMinutePerProject, <c>quota_unit</c> 1/min/{project}, <c>consumer</c> projects/….</summary>
    private static FcmQuota OfInfo(JsonElement info)
    {
        if (info.ValueKind != JsonValueKind.Object || !info.TryGetProperty("metadata", out var metadata))
        {
            return FcmQuota.None;
        }

        // The consumer last: it names the project, whatever the quota is of.
        foreach (var member in (ReadOnlySpan<string>)["quota_limit", "quota_unit", "quota_metric", "consumer"])
        {
            if (Named(FcmResponse.Text(metadata, member)) is var kind && kind != FcmQuota.None)
            {
                return kind;
            }
        }

        return FcmQuota.None;
    }

    private static FcmQuota Named(string? text) =>
        Mentions(text, "device") ? FcmQuota.Device
        : Mentions(text, "topic") ? FcmQuota.Topic
        : Mentions(text, "project") || Mentions(text, "message") ? FcmQuota.Project
        : FcmQuota.None;

    private static bool Mentions(string? text, string word) => text?.Contains(word, StringComparison.OrdinalIgnoreCase) == true;
}

/// <summary>Whose quota a 429 speaks of; of several the last of these counts.</summary>
internal enum FcmQuota
{
    /// <summary>It does not say.</summary>
    None,

    /// <summary>Messages to one device; the others go on.</summary>
    Device,

    /// <summary>Messages to one topic.</summary>
    Topic,

    /// <summary>Messages of the whole project.</summary>
    Project,
}
