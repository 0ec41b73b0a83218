using System.Text;
using Pnh.Api.Access;
using Pnh.Api.FrontDoor;
using Pnh.Api.Hosting;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Endpoints;

/// <summary>Health on both listeners, metrics on the operations listener.</summary>
internal static class OperationsEndpoints
{
    private static readonly byte[] Ok = "ok\n"u8.ToArray();

    public static void MapOperations(this IEndpointRouteBuilder routes, Readiness readiness, MetricRegistry registry)
    {
        routes.MapGet("/healthz", context => AnswerAsync(context, readiness.ClosedStore)).Light().AllowAnyone();
        routes.MapGet("/readyz", context => AnswerAsync(context, readiness.Fault)).Light().AllowAnyone();
        routes.MapGet("/metrics", context => WriteMetricsAsync(context.Response, registry)).OnOperations().AllowAnyone();
    }

    private static Task AnswerAsync(HttpContext context, string? fault) => fault is null
        ? AnswerAsync(context, StatusCodes.Status200OK, Ok)
        : AnswerAsync(context, StatusCodes.Status503ServiceUnavailable, Encoding.UTF8.GetBytes(fault + "\n"));

    private static Task AnswerAsync(HttpContext context, int status, byte[] body)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain; charset=utf-8";
        context.Response.ContentLength = body.Length;
        return context.Response.Body.WriteAsync(body).AsTask();
    }

    private static async Task WriteMetricsAsync(HttpResponse response, MetricRegistry registry)
    {
        response.ContentType = MetricRegistry.ContentType;
        registry.Write(response.BodyWriter);
        await response.BodyWriter.FlushAsync();
    }
}
