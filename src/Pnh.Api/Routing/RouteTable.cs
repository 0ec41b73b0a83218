using Microsoft.AspNetCore.Routing.Patterns;
using Pnh.Api.Listeners;

namespace Pnh.Api.Routing;

/// <summary>What the front door does with a request.</summary>
internal enum RequestKind
{
    /// <summary>No such path on this listener.</summary>
    NotFound,

    /// <summary>The path is there, for other methods.</summary>
    MethodNotAllowed,

    /// <summary>The full pipeline.</summary>
    Business,

    /// <summary>Answered by the front door.</summary>
    Light,

    /// <summary>The operators' pipeline.</summary>
    Operations,
}

/// <summary>
/// All mapped endpoints, ready to be matched by span. Built once when the host starts, from the endpoints themselves, so there is no second
/// list to keep. Matching is stricter than routing's: letters in the case of the route, no empty segment, no dot segment, no slash at the end,
/// literals unescaped. Whatever it lets through, routing matches as well. Immutable, thread-safe.
/// </summary>
internal sealed class RouteTable
{
    private readonly RouteNode _root;

    private RouteTable(RouteNode root)
    {
        _root = root;
    }

    /// <summary>
    /// Throws <see cref="InvalidOperationException"/>, naming the route, when an endpoint says nothing of who may call it, or has a pattern
    /// that the table does not know (optional parameters, several parameters in a segment).
    /// </summary>
    public static RouteTable Build(IEnumerable<Endpoint> endpoints)
    {
        var root = new RouteNode();
        foreach (var endpoint in endpoints.OfType<RouteEndpoint>())
        {
            var place = EndpointPlace.Of(endpoint);
            if (!place.IsLight)
            {
                AccessRule.Check(endpoint);
            }

            var node = root;
            foreach (var segment in endpoint.RoutePattern.PathSegments)
            {
                node = Descend(node, segment, endpoint);
            }

            node.Add(endpoint, place);
        }

        return new(root);
    }

    /// <summary>
    /// What to do with a request for <paramref name="path"/> (still encoded, without query). <paramref name="route"/> is null only for
    /// <see cref="RequestKind.NotFound"/>. Allocates nothing.
    /// </summary>
    public RequestKind Classify(Listener listener, string method, ReadOnlySpan<char> path, out Route? route)
    {
        route = path.StartsWith('/') ? _root.Find(path[1..], listener) : null;
        return route is null ? RequestKind.NotFound
            : !route.Allows(method) ? RequestKind.MethodNotAllowed
            : route.Light is not null ? RequestKind.Light
            : listener == Listener.Operations ? RequestKind.Operations
            : RequestKind.Business;
    }

    private static RouteNode Descend(RouteNode node, RoutePatternPathSegment segment, RouteEndpoint endpoint)
    {
        var prefix = segment.Parts[0] is RoutePatternLiteralPart first ? first.Content : "";
        var parameters = segment.Parts.OfType<RoutePatternParameterPart>().ToList();
        if (parameters.Count == 0 && segment.Parts.Count == 1)
        {
            return node.Literal(prefix);
        }

        var suffix = segment.Parts.Count > 1 && segment.Parts[^1] is RoutePatternLiteralPart last ? last.Content : "";
        if (parameters is not [{ IsOptional: false } parameter] || segment.Parts.Any(static part => part is RoutePatternSeparatorPart))
        {
            throw new InvalidOperationException(
                $"Route {endpoint.RoutePattern.RawText}: a segment may be a literal, or one parameter that is not optional, with a literal before or after it.");
        }

        return parameter.IsCatchAll ? node.Rest() : node.Parameter(prefix, suffix);
    }
}
