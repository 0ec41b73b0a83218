using System.Text;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Prometheus;

namespace Pnh.Api.Operations;

/// <summary>Health on both listeners, metrics on the operations listener.</summary>
internal static class OperationsEndpoints
{
    private const string OpenMetrics = PrometheusConstants.OpenMetricsContentType;
    private static readonly byte[] Ok = "ok\n"u8.ToArray();

    /// <param name="routes">Of the hub.</param>
    /// <param name="readiness">What health answers.</param>
    /// <param name="registry">What metrics answers.</param>
    /// <param name="mayScrape">Whether this Host may read metrics: not a stranger's name that was re-pointed at this machine (DNS rebinding).</param>
    public static void MapOperations(this IEndpointRouteBuilder routes, Readiness readiness, CollectorRegistry registry, Func<HostString, bool> mayScrape)
    {
        routes.MapGet("/healthz", context => AnswerAsync(context, readiness.ClosedStore)).Light().AllowAnyone();
        routes.MapGet("/readyz", context => AnswerAsync(context, readiness.Fault, readiness.Shortage)).Light().AllowAnyone();
        routes.MapGet("/metrics", context => mayScrape(context.Request.Host)
            ? WriteMetricsAsync(context, registry)
            : new Problem(ProblemCatalogue.Forbidden, "The Host header is no name of the operations listener; where it is one, add it to Pnh:Console:HostNames.").ExecuteAsync(context)).OnOperations().AllowAnyone();
    }

    private static Task AnswerAsync(HttpContext context, string? fault, string? shortage = null) => fault is null
        ? AnswerAsync(context, StatusCodes.Status200OK, shortage is null ? Ok : Encoding.UTF8.GetBytes($"ok, but {shortage}\n"))
        : AnswerAsync(context, StatusCodes.Status503ServiceUnavailable, Encoding.UTF8.GetBytes(fault + "\n"));

    private static Task AnswerAsync(HttpContext context, int status, byte[] body)
    {
        context.Response.StatusCode = status;
        context.Response.ContentType = "text/plain; charset=utf-8";
        context.Response.ContentLength = body.Length;
        return context.Response.Body.WriteAsync(body).AsTask();
    }

    // The library's own endpoint would load all of MVC for this.
    private static Task WriteMetricsAsync(HttpContext context, CollectorRegistry registry)
    {
        var isOpenMetrics = context.Request.GetTypedHeaders().Accept.OrderByDescending(static type => type.Quality ?? 1)
            .FirstOrDefault(static type => type.MediaType.Value is OpenMetrics or "text/plain")?.MediaType.Value == OpenMetrics;
        context.Response.ContentType = isOpenMetrics ? PrometheusConstants.OpenMetricsContentTypeWithVersionAndEncoding : PrometheusConstants.TextContentTypeWithVersionAndEncoding;
        return registry.CollectAndExportAsTextAsync(
            context.Response.Body, isOpenMetrics ? ExpositionFormat.OpenMetricsText : ExpositionFormat.PrometheusText, context.RequestAborted);
    }
}
