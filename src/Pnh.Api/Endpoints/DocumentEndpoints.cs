using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Endpoints;

/// <summary>
/// What anybody may read: the API's own description, and the client for browsers. The description is written by hand and kept true by tests: its operations are the mapped ones, its problem codes the
/// catalogue's.
/// </summary>
internal static class DocumentEndpoints
{
    private const string JavaScript = "text/javascript; charset=utf-8";

    public static void MapDocuments(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/openapi.json", static context => WriteAsync(context, "openapi.json", RequestBody.Json)).AllowAnyone();
        routes.MapGet("/pnh.js", WriteClientAsync).AllowAnyone();
    }

    // A page of any origin may load it, as from any other address of scripts: what it can do is decided by tokens.
    private static Task WriteClientAsync(HttpContext context)
    {
        context.Response.Headers.AccessControlAllowOrigin = "*";
        context.Response.Headers.CacheControl = "public, max-age=600";
        return WriteAsync(context, "pnh.js", JavaScript);
    }

    private static async Task WriteAsync(HttpContext context, string name, string type)
    {
        await using var document = typeof(DocumentEndpoints).Assembly.GetManifestResourceStream(name)!;
        context.Response.ContentType = type;
        context.Response.ContentLength = document.Length;
        await document.CopyToAsync(context.Response.Body, context.RequestAborted);
    }
}
