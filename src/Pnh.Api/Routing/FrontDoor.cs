using Microsoft.AspNetCore.Http.Features;
using Pnh.Api.Listeners;
using Pnh.Api.Problems;

namespace Pnh.Api.Routing;

/// <summary>
/// The first middleware: sends a request to the pipeline that its path deserves. Business and operations requests go on to routing and the
/// rest; light ones run here; unknown paths and wrong verbs are answered here from prebuilt bytes, before routing, authentication, logging
/// and services, with no allocation of ours. Thread-safe.
/// </summary>
internal sealed class FrontDoor
{
    private readonly RequestDelegate _next;
    private readonly RouteTable _routes;

    /// <summary>In front of <paramref name="next"/>.</summary>
    public FrontDoor(RequestDelegate next, RouteTable routes)
    {
        _next = next;
        _routes = routes;
    }

    /// <summary>Middleware entry. Not async: the common ways through need no state machine.</summary>
    public Task InvokeAsync(HttpContext context)
    {
        var request = context.Features.GetRequiredFeature<IHttpRequestFeature>();
        var path = RequestTarget.Path(request.RawTarget);
        switch (_routes.Classify(ListenerMark.Of(context), request.Method, path, out var route))
        {
            case RequestKind.Business or RequestKind.Operations:
                return _next(context);
            case RequestKind.Light:
                return route!.Light!(context);
            case RequestKind.MethodNotAllowed:
                context.Response.Headers.Allow = route!.Allow;
                return StaticProblem.MethodNotAllowed.WriteAsync(context);
            default:
                return StaticProblem.NotFound.WriteAsync(context);
        }
    }
}
