using Microsoft.Extensions.Primitives;

namespace Pnh.Api.Routing;

/// <summary>All endpoints of one pattern on one listener. Immutable once the table is built.</summary>
internal sealed class Route
{
    private readonly List<string> _methods = [];
    private bool _allowsAny;

    /// <summary>The endpoint's own delegate when the front door runs it; null = it goes through the pipeline.</summary>
    public RequestDelegate? Light { get; private set; }

    /// <summary>The Allow header of a 405 (RFC 9110 section 10.2.1).</summary>
    public StringValues Allow { get; private set; }

    /// <summary>Takes an endpoint into a route, making it when it is the first.</summary>
    public static void Add(ref Route? route, RouteEndpoint endpoint, EndpointPlace place)
    {
        route ??= new Route();
        var methods = endpoint.Metadata.GetMetadata<IHttpMethodMetadata>()?.HttpMethods ?? [];
        route._allowsAny |= methods.Count == 0;
        if (place.IsLight)
        {
            route.Light = route._methods.Count == 0
                ? endpoint.RequestDelegate
                : throw new InvalidOperationException($"Route {endpoint.RoutePattern.RawText} is light, so it can have only one endpoint.");
        }

        foreach (var method in methods)
        {
            route.Allows(method, add: true);
            if (place.IsLight && HttpMethods.IsGet(method))
            {
                // A light answer is a line of text, and the server leaves the body out for HEAD by itself.
                route.Allows(HttpMethods.Head, add: true);
            }
        }

        route.Allow = string.Join(", ", route._methods);
    }

    /// <summary>Whether the method has an endpoint. Methods are case-sensitive (RFC 9110 section 9.1).</summary>
    public bool Allows(string method) => _allowsAny || Allows(method, add: false);

    private bool Allows(string method, bool add)
    {
        foreach (var known in _methods)
        {
            if (string.Equals(known, method, StringComparison.Ordinal))
            {
                return true;
            }
        }

        if (add)
        {
            _methods.Add(method);
        }

        return add;
    }
}
