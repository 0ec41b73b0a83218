using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Documents;

/// <summary>
/// What anybody may read: the API's own description, and the client for browsers. The description is written by hand and kept true by tests: its operations are the mapped ones, its problem codes the
/// catalogue's.
/// </summary>
internal static class DocumentEndpoints
{
    public static void MapDocuments(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/openapi.json", WriteDescriptionAsync).AllowAnyone();
        routes.MapGet("/", static context => DocumentPages.WriteAsync(context, DocumentPages.Index)).AllowAnyone();
        routes.MapGet("/docs", static context => DocumentPages.WriteAsync(context, DocumentPages.Index)).AllowAnyone();
        routes.MapGet("/docs/{page}", static context => DocumentPages.WriteAsync(context, (string)context.GetRouteValue("page")!)).AllowAnyone();
        foreach (var script in ClientScripts.Names)
        {
            routes.MapGet($"/{script}", context => ClientScripts.WriteAsync(context, script)).AllowAnyone();
        }
    }

    private static async Task WriteDescriptionAsync(HttpContext context)
    {
        await using var document = typeof(DocumentEndpoints).Assembly.GetManifestResourceStream("openapi.json")!;
        context.Response.ContentType = RequestBody.Json;
        context.Response.ContentLength = document.Length;
        await document.CopyToAsync(context.Response.Body, context.RequestAborted);
    }
}
