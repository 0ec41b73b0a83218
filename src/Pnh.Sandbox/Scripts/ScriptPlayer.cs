using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Sandbox.Hosting;

namespace Pnh.Sandbox.Scripts;

/// <summary>The part of a script that all providers play alike: what happens below HTTP's status codes.</summary>
internal static class ScriptPlayer
{
    private const string BrokenPage =
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

    /// <summary>Whether the script leaves no answer of the provider's own.</summary>
    public static bool TakesOver(Script? script) => script?.Kind is ScriptKind.Broken or ScriptKind.Reset or ScriptKind.Disconnect;

    /// <summary>Whether the push reaches its phone.</summary>
    public static bool Delivers(Script? script) =>
        script is null || script.Kind is ScriptKind.Slow or ScriptKind.GoAway or ScriptKind.Grant || (TakesOver(script) && script.Delivered);

    public static Task PlayAsync(Script script, HttpContext context)
    {
        switch (script.Kind)
        {
            case ScriptKind.Broken:
                context.Response.StatusCode = script.Status == 0 ? StatusCodes.Status502BadGateway : script.Status;
                context.Response.ContentType = "text/html; charset=UTF-8";
                return context.Response.WriteAsync(BrokenPage.PadRight(script.Size), context.RequestAborted);
            case ScriptKind.Reset when context.Features.Get<IHttpResetFeature>() is { } stream:
                stream.Reset(script.ErrorCode);
                return Task.CompletedTask;
            default:
                context.Features.GetRequiredFeature<IConnectionLifetimeFeature>().Abort();
                return Task.CompletedTask;
        }
    }

    /// <summary>What the script puts beside the answer: GOAWAY with this debug data, or SETTINGS.</summary>
    public static void Accompany(Script? script, HttpContext context, ProviderConnection connection, string debugData)
    {
        if (script?.Kind == ScriptKind.GoAway)
        {
            connection.GoAway(context.Features, errorCode: 0, debugData);
        }
        else if (script?.Kind == ScriptKind.Grant)
        {
            connection.Grant(script.Streams);
        }
    }
}
