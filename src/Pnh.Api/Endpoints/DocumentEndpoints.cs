using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Endpoints;

/// <summary>
/// The API's own description. Written by hand and kept true by tests: its operations are the mapped ones, its problem codes the catalogue's.
/// </summary>
internal static class DocumentEndpoints
{
    public static void MapDocuments(this IEndpointRouteBuilder routes) =>
        routes.MapGet("/v1/openapi.json", WriteAsync).AllowAnyone();

    private static async Task WriteAsync(HttpContext context)
    {
        await using var document = typeof(DocumentEndpoints).Assembly.GetManifestResourceStream("openapi.json")!;
        context.Response.ContentType = RequestBody.Json;
        context.Response.ContentLength = document.Length;
        await document.CopyToAsync(context.Response.Body, context.RequestAborted);
    }
}
