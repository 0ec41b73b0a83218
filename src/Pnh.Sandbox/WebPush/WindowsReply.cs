using System.Globalization;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// An answer as Windows' push service gives it (Microsoft: Push notification service request and response headers): no body, but headers that say what became of the
/// message and why it was refused.
/// </summary>
internal static class WindowsReply
{
    public static Task WriteAsync(HttpContext context, WebPushReply reply, Script? script)
    {
        HttpResponse response = context.Response;
        bool isThrottled = reply.Status == StatusCodes.Status429TooManyRequests;
        bool isTaken = reply.Status is >= 200 and < 300;
        string? scripted = script?.Kind == ScriptKind.Answer && script.Reason is { } reason ? Ascii(reason) : null;
        response.StatusCode = isThrottled ? StatusCodes.Status406NotAcceptable : reply.Status;
        response.Headers["X-WNS-STATUS"] = isTaken ? scripted ?? "received" : isThrottled ? "channelthrottled" : "dropped";
        response.Headers["X-WNS-MSG-ID"] = Guid.NewGuid().ToString("N")[..16].ToUpperInvariant();
        if (!isTaken)
        {
            response.Headers["X-WNS-ERROR-DESCRIPTION"] = scripted ?? reply.Text;
        }

        if (reply.RetryAfter is { } wait)
        {
            response.Headers.RetryAfter = ((long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
        }

        if (reply.Location is not null)
        {
            response.Headers.Location = reply.Location;
        }

        return Task.CompletedTask;
    }

    // A header carries nothing else.
    private static string Ascii(string text) => string.Concat(text.Select(static c => c is >= ' ' and <= '~' ? c : '?'));
}
