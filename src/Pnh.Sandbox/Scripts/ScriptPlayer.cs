using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Sandbox.Hosting;

namespace Pnh.Sandbox.Scripts;

/// <summary>The part of a script that both providers play alike: what happens below HTTP's status codes.</summary>
internal static class ScriptPlayer
{
    private const string BrokenPage =
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

    /// <summary>Whether the script leaves no answer of the provider's own.</summary>
    public static bool TakesOver(Script? script) => script?.Kind is ScriptKind.Broken or ScriptKind.Reset or ScriptKind.Disconnect;

    /// <summary>Whether the push reaches its phone.</summary>
    public static bool Delivers(Script? script) =>
        script is null || script.Kind is ScriptKind.Slow or ScriptKind.GoAway || (TakesOver(script) && script.Delivered);

    public static Task PlayAsync(Script script, HttpContext context)
    {
        switch (script.Kind)
        {
            case ScriptKind.Broken:
                context.Response.StatusCode = StatusCodes.Status502BadGateway;
                context.Response.ContentType = "text/html; charset=UTF-8";
                return context.Response.WriteAsync(BrokenPage, context.RequestAborted);
            case ScriptKind.Reset when context.Features.Get<IHttpResetFeature>() is { } stream:
                stream.Reset(script.ErrorCode);
                return Task.CompletedTask;
            default:
                context.Features.GetRequiredFeature<IConnectionLifetimeFeature>().Abort();
                return Task.CompletedTask;
        }
    }

    /// <summary>GOAWAY as the provider words it, to leave together with the answer.</summary>
    public static void GoAway(Script script, HttpContext context, ProviderConnection connection) =>
        connection.GoAway(context.Features, errorCode: 0, $"{{\"reason\":\"{script.Reason ?? "Shutdown"}\"}}");
}
