using System.Collections.Concurrent;
using Pnh.Api.Listeners;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Routing;

/// <summary>
/// The outermost middleware: measures each answer of the public listener, by the pattern of its route. What has none (an unknown path, a light one) counts as
/// <c>other</c>; an upgraded connection is no answer. Thread-safe.
/// </summary>
internal sealed class RequestTimes(RequestDelegate next, RequestMetrics metrics, TimeProvider time)
{
    private const string Other = "other";

    // As nginx says it: the client left before it had its answer.
    private const int ClientLeft = 499;

    private readonly ConcurrentDictionary<Endpoint, RouteMetrics> _routes = new();
    private readonly RouteMetrics _other = metrics.Of(Other, Other);

    /// <summary>Middleware entry.</summary>
    public async Task InvokeAsync(HttpContext context)
    {
        if (ListenerMark.Of(context) != Listener.Public)
        {
            await next(context);
            return;
        }

        var began = time.GetTimestamp();
        try
        {
            await next(context);
        }
        finally
        {
            var status = context.RequestAborted.IsCancellationRequested ? ClientLeft : context.Response.StatusCode;
            if (status != StatusCodes.Status101SwitchingProtocols)
            {
                RouteOf(context).Answered(status, time.GetElapsedTime(began));
            }
        }
    }

    private RouteMetrics RouteOf(HttpContext context) => context.GetEndpoint() is RouteEndpoint { RoutePattern.RawText: { } pattern } endpoint
        ? _routes.GetOrAdd(endpoint, static (_, known) => known.Metrics.Of(known.Method, known.Pattern), (Metrics: metrics, context.Request.Method, Pattern: pattern))
        : _other;
}
