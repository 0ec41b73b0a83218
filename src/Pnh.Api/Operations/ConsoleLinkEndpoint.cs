using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Operations;

/// <summary><c>POST /console/links</c> on the operations listener, with the operator's secret: 201 with a link that signs one browser in.</summary>
internal static class ConsoleLinkEndpoint
{
    /// <summary>The path.</summary>
    public const string Path = "/console/links";

    /// <summary>Maps it.</summary>
    public static IEndpointConventionBuilder MapConsoleLinks(this IEndpointRouteBuilder endpoints, Func<Uri> createLink) =>
        endpoints.MapPost(Path, (HttpContext context) => AnswerAsync(context, createLink())).OnOperations().RequireOperator();

    private static async Task AnswerAsync(HttpContext context, Uri link)
    {
        context.Response.StatusCode = StatusCodes.Status201Created;
        context.Response.ContentType = RequestBody.Json;
        context.Response.Headers.CacheControl = "no-store";
        await using var json = new Utf8JsonWriter(context.Response.BodyWriter);
        JsonSerializer.Serialize(json, new ConsoleLinkBody(link.AbsoluteUri), OperationsJson.Default.ConsoleLinkBody);
    }
}
