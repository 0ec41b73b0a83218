using System.Buffers;
using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.AspNetCore.Http;

namespace Pnh.Sandbox.Fcm;

/// <summary>An answer of FCM v1: the name of the accepted message, or an error of google.rpc's shape.</summary>
internal sealed record FcmReply(int HttpStatus, string Status, string Message)
{
    private const string FcmErrorType = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
    private const string ApnsErrorType = "type.googleapis.com/google.firebase.fcm.v1.ApnsError";
    private const string BadRequestType = "type.googleapis.com/google.rpc.BadRequest";
    private const string QuotaFailureType = "type.googleapis.com/google.rpc.QuotaFailure";
    private const string ErrorInfoType = "type.googleapis.com/google.rpc.ErrorInfo";

    /// <summary>No FCM code but the front end's reason; a script may ask for its answer.</summary>
    private const string RateLimitExceeded = "RATE_LIMIT_EXCEEDED";

    private static readonly JsonWriterOptions Writing = new() { Indented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    /// <summary>FcmError.errorCode; null leaves the detail out.</summary>
    public string? ErrorCode { get; init; }

    public IReadOnlyList<FcmViolation> Violations { get; init; } = [];

    /// <summary>QuotaFailure: subject and description.</summary>
    public (string Subject, string Description)? Quota { get; init; }

    /// <summary>ErrorInfo.reason, in answers of Google's front end.</summary>
    public string? InfoReason { get; init; }

    /// <summary>ErrorInfo.metadata; null leaves it out.</summary>
    public IReadOnlyDictionary<string, string>? InfoMetadata { get; init; }

    public TimeSpan? RetryAfter { get; init; }

    public static FcmReply Accepted(string project, string messageId) => new(200, "OK", $"projects/{project}/messages/{messageId}");

    /// <summary>The mistakes of the body; FcmError only when FCM itself found them, not the front end that reads the JSON.</summary>
    public static FcmReply Invalid(IReadOnlyList<FcmViolation> violations, bool byFcm) =>
        new(400, "INVALID_ARGUMENT", byFcm && violations.Count > 1
            ? "Request contains an invalid argument."
            : string.Join('\n', violations.Select(violation => violation.Description)))
        {
            ErrorCode = byFcm ? "INVALID_ARGUMENT" : null,
            Violations = violations,
        };

    public static FcmReply Unauthenticated(string reason) => new(401, "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.")
    {
        InfoReason = reason,
    };

    public static FcmReply OtherProject(string project) => new(403, "PERMISSION_DENIED",
        $"Permission 'cloudmessaging.messages.create' denied on resource '//cloudresourcemanager.googleapis.com/projects/{project}' (or it may not exist).")
    {
        InfoReason = "IAM_PERMISSION_DENIED",
    };

    public static FcmReply OverQuota(string subject, string quota, TimeSpan? retryAfter) => new(429, "RESOURCE_EXHAUSTED",
        $"Quota exceeded for quota metric '{quota}' of service 'fcm.googleapis.com'.")
    {
        ErrorCode = "QUOTA_EXCEEDED",
        Quota = (subject, $"Quota exceeded for quota metric '{quota}'."),
        RetryAfter = retryAfter,
    };

    /// <summary>What Google's front end says, before FCM is asked, to a project that sends too much: ErrorInfo and no FcmError.</summary>
    public static FcmReply OverProjectRate(TimeSpan? retryAfter) => new(429, "RESOURCE_EXHAUSTED",
        "Quota exceeded for quota metric 'Send requests' and limit 'Send requests per minute' of service 'fcm.googleapis.com' for consumer 'project_number:1'.")
    {
        InfoReason = RateLimitExceeded,
        InfoMetadata = new Dictionary<string, string>
        {
            ["quota_limit_value"] = "600000",
            ["consumer"] = "projects/1",
            ["quota_metric"] = "fcm.googleapis.com/send_requests",
            ["quota_unit"] = "1/min/{project}",
            ["service"] = "fcm.googleapis.com",
            ["quota_location"] = "global",
            ["quota_limit"] = "SendsPerMinutePerProject",
        },
        RetryAfter = retryAfter,
    };

    /// <summary>FCM's refusal with one of its error codes; see the REST reference, "ErrorCode".</summary>
    public static FcmReply Of(string errorCode, int status = 0, TimeSpan? retryAfter = null)
    {
        if (errorCode == RateLimitExceeded)
        {
            return OverProjectRate(retryAfter);
        }

        (int usual, string name, string message) = errorCode switch
        {
            "UNREGISTERED" => (404, "NOT_FOUND", "Requested entity was not found."),
            "SENDER_ID_MISMATCH" => (403, "PERMISSION_DENIED", "SenderId mismatch"),
            "QUOTA_EXCEEDED" => (429, "RESOURCE_EXHAUSTED", "Quota exceeded."),
            "UNAVAILABLE" => (503, "UNAVAILABLE", "The service is currently unavailable."),
            "INTERNAL" => (500, "INTERNAL", "Internal error encountered."),
            "THIRD_PARTY_AUTH_ERROR" => (401, "UNAUTHENTICATED", "Auth error from APNS or Web Push Service"),
            "INVALID_ARGUMENT" => (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
            _ => (500, "UNKNOWN", "Unknown error."),
        };
        return new FcmReply(status == 0 ? usual : status, name, message) { ErrorCode = errorCode, RetryAfter = retryAfter };
    }

    public async Task WriteAsync(HttpContext context)
    {
        HttpResponse response = context.Response;
        response.StatusCode = HttpStatus;
        response.ContentType = "application/json; charset=UTF-8";
        if (RetryAfter is { } wait)
        {
            response.Headers.RetryAfter = ((long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
        }

        if (InfoReason is not null && HttpStatus == StatusCodes.Status401Unauthorized)
        {
            response.Headers.WWWAuthenticate = "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"";
        }

        ArrayBufferWriter<byte> buffer = new();
        using (Utf8JsonWriter json = new(buffer, Writing))
        {
            Write(json);
        }

        response.ContentLength = buffer.WrittenCount;
        await response.BodyWriter.WriteAsync(buffer.WrittenMemory, context.RequestAborted);
    }

    private void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        if (HttpStatus == StatusCodes.Status200OK)
        {
            json.WriteString("name", Message);
            json.WriteEndObject();
            return;
        }

        json.WriteStartObject("error");
        json.WriteNumber("code", HttpStatus);
        json.WriteString("message", Message);
        json.WriteString("status", Status);
        json.WriteStartArray("details");
        WriteDetails(json);
        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteEndObject();
    }

    private void WriteDetails(Utf8JsonWriter json)
    {
        if (ErrorCode is not null)
        {
            Detail(json, FcmErrorType, () => json.WriteString("errorCode", ErrorCode));
        }

        if (Violations.Count > 0)
        {
            Detail(json, BadRequestType, () => List(json, "fieldViolations", Violations.Select(v => ("field", v.Field, v.Description))));
        }

        if (Quota is { } quota)
        {
            Detail(json, QuotaFailureType, () => List(json, "violations", [("subject", quota.Subject, quota.Description)]));
        }

        if (ErrorCode == "THIRD_PARTY_AUTH_ERROR")
        {
            Detail(json, ApnsErrorType, () =>
            {
                json.WriteNumber("statusCode", 403);
                json.WriteString("reason", "InvalidProviderToken");
            });
        }

        if (InfoReason is not null)
        {
            Detail(json, ErrorInfoType, () =>
            {
                json.WriteString("reason", InfoReason);
                json.WriteString("domain", "googleapis.com");
                if (InfoMetadata is not null)
                {
                    json.WriteStartObject("metadata");
                    foreach ((string name, string value) in InfoMetadata)
                    {
                        json.WriteString(name, value);
                    }

                    json.WriteEndObject();
                }
            });
        }
    }

    private static void Detail(Utf8JsonWriter json, string type, Action content)
    {
        json.WriteStartObject();
        json.WriteString("@type", type);
        content();
        json.WriteEndObject();
    }

    private static void List(Utf8JsonWriter json, string name, IEnumerable<(string Key, string Value, string Description)> entries)
    {
        json.WriteStartArray(name);
        foreach ((string key, string value, string description) in entries)
        {
            json.WriteStartObject();
            if (value.Length > 0)
            {
                json.WriteString(key, value);
            }

            json.WriteString("description", description);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }
}
