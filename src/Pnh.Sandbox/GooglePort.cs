using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Control;
using Pnh.Sandbox.Fcm;
using Pnh.Sandbox.Hosting;
using Pnh.Sandbox.OAuth;
using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox;

/// <summary>What stands on the FCM port: FCM v1, Web Push as Chrome and Windows have it, OAuth's <c>/token</c>, and the sandbox's own addresses.</summary>
internal sealed class GooglePort
{
    private const string NotFoundPage =
        "<!DOCTYPE html><html lang=en><title>Error 404 (Not Found)!!1</title><p>The requested URL was not found on this server.</html>";

    // RFC 9113 section 7.
    private const int ProtocolError = 1;

    private readonly FcmStandIn _fcm;
    private readonly OAuthStandIn _oauth;
    private readonly WebPushStandIn _webPush;
    private readonly ControlEndpoints _control;
    private readonly SandboxViolations _violations;

    public GooglePort(FcmStandIn fcm, OAuthStandIn oauth, WebPushStandIn webPush, ControlEndpoints control,
        SandboxViolations violations)
    {
        _fcm = fcm;
        _oauth = oauth;
        _webPush = webPush;
        _control = control;
        _violations = violations;
    }

    public Task HandleAsync(HttpContext context)
    {
        string path = context.Request.Path.Value ?? "";
        bool post = HttpMethods.IsPost(context.Request.Method);
        return path switch
        {
            OAuthStandIn.Path when post => _oauth.HandleAsync(context),
            _ when post && FcmStandIn.ProjectOf(path) is { } project =>
                SendAsync(context, (connection, leave) => _fcm.HandleAsync(context, project, connection, leave)),
            _ when WebPushStandIn.Serves(path) =>
                SendAsync(context, (connection, leave) => _webPush.HandleAsync(context, connection, leave)),
            _ when path.StartsWith(ControlEndpoints.Prefix, StringComparison.Ordinal) => _control.HandleAsync(context),
            _ => NotFoundAsync(context),
        };
    }

    private async Task SendAsync(HttpContext context, Func<ProviderConnection, Action, Task> send)
    {
        ProviderConnection connection = context.Features.GetRequiredFeature<ProviderConnection>();
        bool http2 = HttpProtocol.IsHttp2(context.Request.Protocol);
        bool left = false;
        if (!connection.TryEnter() && http2)
        {
            // What Google's front ends do: the connection ends, with its name for the offence.
            _violations.Add(ViolationKind.ExcessStreams);
            connection.GoAway(context.Features, ProtocolError, "exceeded_max_concurrent_streams");
        }

        try
        {
            await send(connection, Leave);
        }
        finally
        {
            Leave();
        }

        void Leave()
        {
            if (!left)
            {
                left = true;
                connection.Leave();
            }
        }
    }

    // Google answers unknown paths and verbs with a page for people.
    private static Task NotFoundAsync(HttpContext context)
    {
        context.Response.StatusCode = StatusCodes.Status404NotFound;
        context.Response.ContentType = "text/html; charset=UTF-8";
        return context.Response.WriteAsync(NotFoundPage, context.RequestAborted);
    }
}
