using System.Globalization;
using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.WebPush;

/// <summary>An answer of the push service, in Google's words where they are known: plain text for people, since RFC 8030 leaves bodies open.</summary>
internal sealed record WebPushReply(int Status, string Text)
{
    public static readonly WebPushReply OnlyPost = new(StatusCodes.Status405MethodNotAllowed, "Only POST is allowed here.");

    public static readonly WebPushReply NoSubscription = new(StatusCodes.Status404NotFound,
        "A valid push subscription endpoint should be specified in the URL as such: /fcm/send/NAME:..., which GET /sandbox/browsers/NAME tells.");

    public static readonly WebPushReply NoCredential = new(StatusCodes.Status401Unauthorized, "authorization header must be specified.");

    public static readonly WebPushReply OtherKey = new(StatusCodes.Status403Forbidden,
        "the VAPID credentials in the authorization header do not correspond to the credentials used to create the subscriptions.");

    public static readonly WebPushReply TooLarge = new(StatusCodes.Status413PayloadTooLarge, "The body must not be larger than 4096 bytes.");

    public static readonly WebPushReply Gone = new(StatusCodes.Status410Gone, "push subscription has unsubscribed or expired.");

    public static readonly WebPushReply BadTopic = new(StatusCodes.Status400BadRequest, """{"reason":"BadWebPushTopic"}""");

    public static readonly WebPushReply BadJwt = new(StatusCodes.Status403Forbidden, """{"reason":"BadJwtToken"}""");

    private static readonly TimeSpan DefaultRetryAfter = TimeSpan.FromSeconds(60);

    public TimeSpan? RetryAfter { get; init; }

    /// <summary>Where the accepted message is (RFC 8030 section 5).</summary>
    public string? Location { get; init; }

    public static WebPushReply Accepted(string location) => new(StatusCodes.Status201Created, "") { Location = location };

    public static WebPushReply BadCredential(string error) => new(StatusCodes.Status401Unauthorized, error);

    public static WebPushReply Wrong(string error) => new(StatusCodes.Status400BadRequest, error);

    /// <summary>What a script makes the push service say; null when it accepts.</summary>
    public static WebPushReply? Of(Script? script) => script?.Kind switch
    {
        ScriptKind.Unregistered => Gone,
        ScriptKind.Bad => NoSubscription,
        ScriptKind.Throttled => new WebPushReply(StatusCodes.Status429TooManyRequests, "Too many messages for this subscription.")
        {
            RetryAfter = script.RetryAfter ?? DefaultRetryAfter,
        },
        ScriptKind.Unavailable => new WebPushReply(StatusCodes.Status503ServiceUnavailable, "The service is currently unavailable.")
        {
            RetryAfter = script.RetryAfter,
        },

        // As Apple's push service gives its reasons; Google's has none.
        ScriptKind.Answer => new WebPushReply(script.Status == 0 ? StatusCodes.Status500InternalServerError : script.Status,
            $"{{\"reason\":\"{script.Reason ?? "InternalServerError"}\"}}")
        {
            RetryAfter = script.RetryAfter,
        },
        _ => null,
    };

    public Task WriteAsync(HttpContext context)
    {
        HttpResponse response = context.Response;
        response.StatusCode = Status;
        if (RetryAfter is { } wait)
        {
            response.Headers.RetryAfter = ((long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture);
        }

        if (Status == StatusCodes.Status401Unauthorized)
        {
            response.Headers.WWWAuthenticate = "vapid";
        }
        else if (Status == StatusCodes.Status405MethodNotAllowed)
        {
            response.Headers.Allow = HttpMethods.Post;
        }
        else if (Location is not null)
        {
            response.Headers.Location = Location;
        }

        if (Text.Length == 0)
        {
            return Task.CompletedTask;
        }

        response.ContentType = Text[0] == '{' ? "application/json" : "text/plain; charset=UTF-8";
        return response.WriteAsync(Text + "\n", context.RequestAborted);
    }
}
