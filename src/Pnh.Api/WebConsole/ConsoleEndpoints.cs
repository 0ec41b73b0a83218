using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Endpoints;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;

namespace Pnh.Api.WebConsole;

/// <summary>The console: page, stream, form and the tab's token, all under <c>/console</c> on the operations listener.</summary>
internal static class ConsoleEndpoints
{
    /// <summary>Where the page is.</summary>
    public const string Path = "/console";

    // A key in a form, and no more.
    private const int SignInBytes = 4 * 1024;

    /// <summary>What the console consists of; <see cref="IConsoleSource"/>, <see cref="ConsoleAccessOptions"/>, <see cref="LastHour"/> and TimeProvider come from the hub.</summary>
    public static IServiceCollection AddConsole(this IServiceCollection services) => services
        .AddSingleton<ConsoleAccess>()
        .AddSingleton<PageFiles>()
        .AddSingleton<SnapshotFeed>();

    /// <summary>Maps the console. Its own gate decides who gets in.</summary>
    public static void MapConsole(this IEndpointRouteBuilder endpoints)
    {
        var services = endpoints.ServiceProvider;
        var access = services.GetRequiredService<ConsoleAccess>();
        var files = services.GetRequiredService<PageFiles>();
        var source = services.GetRequiredService<IConsoleSource>();
        var hour = services.GetRequiredService<LastHour>();
        var stream = new SnapshotStream(services.GetRequiredService<SnapshotFeed>(), access, services.GetRequiredService<IHostApplicationLifetime>());
        var console = endpoints.MapGroup(Path).OnOperations().AllowAnyone().ExcludeFromDescription();

        RequestDelegate Open(RequestDelegate next) => context => ConsoleGate.CheckOrigin(context, access)?.ExecuteAsync(context) ?? next(context);
        RequestDelegate SignedIn(RequestDelegate next) => Open(context =>
            ConsoleGate.IsSignedIn(context, access) ? next(context) : new Problem(ProblemCatalogue.Unauthorized).ExecuteAsync(context));

        RequestDelegate Fresh(RequestDelegate next) => SignedIn(context =>
        {
            context.Response.Headers.CacheControl = "no-store";
            return next(context);
        });

        console.MapGet(string.Empty, Open(context => ShowAsync(context, access, files)));
        foreach (var asset in PageFiles.Assets)
        {
            var name = asset;
            console.MapGet($"/{name}", Open(context => files.SendAsync(context, name)));
        }

        console.MapPost("/signin", Open(context => SignInAsync(context, access, files)));
        console.MapPost("/signout", Open(context => SignOut(context, access)));
        console.MapGet("/stream", SignedIn(stream.RunAsync));
        console.MapGet("/hour", Fresh(context => JsonAnswer.WriteAsync(context.Response, hour.Write)));
        console.MapPost("/events", Fresh(context => RelayAsync(context, source.SendAsync)));
        console.MapGet("/events/{id}", Fresh(context => ShowTimelineAsync(context, source)));
        console.MapGet("/users/{user}", Fresh(context => ShowUserAsync(context, source)));
        console.MapGet("/events", Fresh(context => source.WriteNewestAsync(context, AppOf(context))));
        console.MapGet("/failures", Fresh(context => source.WriteFailuresAsync(context, AppOf(context), Query(context, "channel"))));
        console.MapPost("/explain", Fresh(context => RelayAsync(context, source.ExplainAsync)));
        console.MapPost("/token", Fresh(context => CreateTokenAsync(context, source)));
    }

    /// <summary>The page; a ticket in the address is used up. A second click in the browser that used it finds its session.</summary>
    private static Task ShowAsync(HttpContext context, ConsoleAccess access, PageFiles files)
    {
        if (context.Request.Query["ticket"].ToString() is { Length: > 0 } ticket)
        {
            var cookie = access.Redeem(ticket);
            if (cookie is not null)
            {
                ConsoleGate.BeginSession(context, access, cookie);
            }

            return cookie is not null || ConsoleGate.IsSignedIn(context, access)
                ? GoOnAsync(context, files)
                : files.SendAsync(context, PageFiles.SignInUsedLink, StatusCodes.Status401Unauthorized);
        }

        return ConsoleGate.IsSignedIn(context, access)
            ? files.SendAsync(context, PageFiles.Index)
            : files.SendAsync(context, PageFiles.SignIn, StatusCodes.Status401Unauthorized);
    }

    /// <summary>
    /// To the console, without the ticket in the address. A redirect would still be the navigation of the site where the link was clicked, and such a one
    /// brings no strict cookie: there a page of ours goes on by itself.
    /// </summary>
    private static Task GoOnAsync(HttpContext context, PageFiles files) =>
        ConsoleGate.IsPerhapsFromAnotherSite(context.Request) ? files.SendAsync(context, PageFiles.Opened) : SeeOther(context);

    private static async Task SignInAsync(HttpContext context, ConsoleAccess access, PageFiles files)
    {
        using var body = await RequestBody.ReadAsync(context.Request, "application/x-www-form-urlencoded", SignInBytes, context.RequestAborted);
        if (body.Problem is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        var form = Microsoft.AspNetCore.WebUtilities.QueryHelpers.ParseQuery(System.Text.Encoding.UTF8.GetString(body.Bytes.Span));
        if (access.SignIn(form.GetValueOrDefault("key").ToString().Trim()) is not { } cookie)
        {
            await files.SendAsync(context, PageFiles.SignInWrongKey, StatusCodes.Status401Unauthorized);
            return;
        }

        ConsoleGate.BeginSession(context, access, cookie);
        await SeeOther(context);
    }

    private static Task SignOut(HttpContext context, ConsoleAccess access)
    {
        ConsoleGate.EndSession(context, access);
        return SeeOther(context);
    }

    private static async Task RelayAsync(HttpContext context, Func<ReadOnlyMemory<byte>, CancellationToken, ValueTask<ConsoleAnswer>> relay)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        if (body.Problem is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        var answer = await relay(body.Bytes, context.RequestAborted);
        context.Response.StatusCode = answer.Status;
        context.Response.ContentType = answer.ContentType;
        context.Response.ContentLength = answer.Body.Length;
        await context.Response.Body.WriteAsync(answer.Body, context.RequestAborted);
    }

    private static Task ShowTimelineAsync(HttpContext context, IConsoleSource source) =>
        PathEvent.TryRead(context, out var id, out var problem) ? source.WriteTimelineAsync(context, AppOf(context), id) : problem!.ExecuteAsync(context);

    private static async Task ShowUserAsync(HttpContext context, IConsoleSource source)
    {
        if (PathUser.Name(context, PathId.User, out var problem) is not { } user)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        try
        {
            await source.WriteUserAsync(context, AppOf(context), user);
        }
        catch (FormatException)
        {
            await QueryReader.NoCursor("before").ExecuteAsync(context);
        }
    }

    private static string? AppOf(HttpContext context) => Query(context, "app");

    /// <summary>A parameter; null when it is absent or empty.</summary>
    internal static string? Query(HttpContext context, string name) => context.Request.Query[name].ToString() is { Length: > 0 } text ? text : null;

    private static async Task CreateTokenAsync(HttpContext context, IConsoleSource source)
    {
        if (await source.CreateTabTokenAsync(context.RequestAborted) is not { } token)
        {
            await new Problem(ProblemCatalogue.NoSuchItem, "This hub is no first start, so there is no demo user for this tab.").ExecuteAsync(context);
            return;
        }

        context.Response.ContentType = RequestBody.Json;
        await JsonSerializer.SerializeAsync(context.Response.Body, token, ConsoleJson.Default.TabToken, context.RequestAborted);
    }

    private static Task SeeOther(HttpContext context)
    {
        context.Response.StatusCode = StatusCodes.Status303SeeOther;
        context.Response.Headers.Location = Path;
        context.Response.Headers["Referrer-Policy"] = "same-origin";
        return Task.CompletedTask;
    }
}
