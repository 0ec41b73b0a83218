using Microsoft.AspNetCore.Cors.Infrastructure;
using Pnh.Api.Access;
using Pnh.Api.Listeners;

namespace Pnh.Api.Routing;

/// <summary>CORS on the public listener (Fetch Standard section 3.2), by the framework's middleware: in front of the front door, and only where an app has origins. Credentials are tokens in a header, never cookies.</summary>
internal static class CorsAnswers
{
    private static readonly TimeSpan PreflightAge = TimeSpan.FromHours(2);

    /// <summary>Answers preflights, and lets pages of the apps' origins read answers.</summary>
    public static void UseCorsOf(this WebApplication app, Origins origins)
    {
        if (origins.None)
        {
            return;
        }

        app.UseWhen(static context => ListenerMark.Of(context) == Listener.Public, pages => pages.Use(next => Narrow(next, origins)).UseCors(policy => Configure(policy, origins)));
    }

    // A preflight has no credential, so it is answered for all apps; an answer is for the page only where the caller's own app lists it. Called last: what comes first is called last.
    private static RequestDelegate Narrow(RequestDelegate next, Origins origins) => context =>
    {
        if (context.Request.Headers.Origin is [{ Length: > 0 } origin])
        {
            context.Response.OnStarting(() =>
            {
                if (context.Features.Get<Caller>() is { } caller && !origins.Lists(caller.App, origin))
                {
                    context.Response.Headers.AccessControlAllowOrigin = default;
                }

                return Task.CompletedTask;
            });
        }

        return next(context);
    };

    private static void Configure(CorsPolicyBuilder policy, Origins origins) => policy
        .SetIsOriginAllowed(origins.Lists)
        .WithMethods(HttpMethods.Get, HttpMethods.Post, HttpMethods.Put, HttpMethods.Delete)
        .AllowAnyHeader()
        .WithExposedHeaders("Retry-After")
        .SetPreflightMaxAge(PreflightAge);
}
