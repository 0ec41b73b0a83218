using System.Globalization;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Apns;

/// <summary>An answer of APNs: 200 without a body, or a status with a JSON reason, and for 410 the time when the token stopped being good.</summary>
internal readonly record struct ApnsReply(int Status, string? Reason = null, DateTimeOffset? Timestamp = null)
{
    /// <summary>Null sends no Retry-After. Apple documents none; a script may want to see what a sender makes of one.</summary>
    public TimeSpan? RetryAfter { get; init; }

    public static readonly ApnsReply Accepted = new(StatusCodes.Status200OK);

    public static ApnsReply Refused(string reason) => new(ApnsReason.StatusOf(reason), reason);

    public static ApnsReply Of(Script script) => script.Kind switch
    {
        ScriptKind.Unregistered => Gone(ApnsReason.Unregistered, script),
        ScriptKind.Bad => Refused(ApnsReason.BadDeviceToken),
        ScriptKind.Throttled => Refused(ApnsReason.TooManyRequests) with { RetryAfter = script.RetryAfter },
        ScriptKind.Unavailable => Refused(ApnsReason.ServiceUnavailable) with { RetryAfter = script.RetryAfter },
        ScriptKind.Answer => Gone(script.Reason ?? "InternalServerError", script) with { RetryAfter = script.RetryAfter },
        _ => Accepted,
    };

    public async Task WriteAsync(HttpContext context, ApnsEnvironment environment)
    {
        HttpResponse response = context.Response;
        response.StatusCode = Status;
        response.Headers[ApnsHeaders.Id] = ApnsHeaders.IdToEcho(context.Request.Headers);
        if (Reason is null)
        {
            if (environment == ApnsEnvironment.Sandbox)
            {
                response.Headers["apns-unique-id"] = Guid.NewGuid().ToString("D");
            }

            response.ContentLength = 0;
            return;
        }

        if (RetryAfter is { } wait)
        {
            response.Headers.RetryAfter = ((long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
        }

        response.ContentType = "application/json";
        await response.WriteAsync(Body(Reason), context.RequestAborted);
    }

    private static ApnsReply Gone(string reason, Script script)
    {
        int status = script.Status == 0 ? ApnsReason.StatusOf(reason) : script.Status;
        return new ApnsReply(status, reason, ApnsReason.HasTimestamp(status) ? script.Timestamp : null);
    }

    // Milliseconds, unlike every other time at Apple's.
    private string Body(string reason) => Timestamp is { } time
        ? string.Create(CultureInfo.InvariantCulture, $"{{\"reason\":\"{reason}\",\"timestamp\":{time.ToUnixTimeMilliseconds()}}}")
        : $"{{\"reason\":\"{reason}\"}}";
}
