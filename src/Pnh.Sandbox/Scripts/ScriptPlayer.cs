using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Sandbox.Hosting;

namespace Pnh.Sandbox.Scripts;

/// <summary>The part of a script that all providers play alike: what happens below HTTP's status codes.</summary>
internal static class ScriptPlayer
{
    /// <summary>The debug data of Google's GOAWAY.</summary>
    public const string GoogleGoAway = "session_timed_out";

    private const string BrokenPage =
        "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>";

    /// <summary>Whether the script leaves no answer of the provider's own.</summary>
    public static bool TakesOver(Script? script) => script?.Kind is ScriptKind.Broken or ScriptKind.Reset or ScriptKind.Disconnect;

    /// <summary>Whether the push reaches its phone.</summary>
    public static bool Delivers(Script? script) =>
        script is null || script.Kind is ScriptKind.Slow or ScriptKind.GoAway or ScriptKind.Grant || (TakesOver(script) && script.Delivered);

    /// <summary>Ends a request: as the script has it, else by the provider's own answer.</summary>
    /// <param name="script">Null for a healthy address.</param>
    /// <param name="context">The request.</param>
    /// <param name="connection">Its connection.</param>
    /// <param name="debugData">Of a scripted GOAWAY.</param>
    /// <param name="write">Writes the provider's own answer.</param>
    public static Task AnswerAsync(Script? script, HttpContext context, ProviderConnection connection, string debugData, Func<HttpContext, Task> write)
    {
        if (TakesOver(script))
        {
            return PlayAsync(script!, context);
        }

        Accompany(script, context, connection, debugData);
        return write(context);
    }

    private static Task PlayAsync(Script script, HttpContext context)
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

    // What the script puts beside the answer: GOAWAY with this debug data, or SETTINGS.
    private static void Accompany(Script? script, HttpContext context, ProviderConnection connection, string debugData)
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
