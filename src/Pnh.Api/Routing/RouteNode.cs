using Pnh.Api.Listeners;

namespace Pnh.Api.Routing;

/// <summary>
/// A place in the tree of routes, one level per path segment. A level has some ten literals at most, so they are compared one by one: no hash,
/// no key to allocate. Built by one thread, read by many.
/// </summary>
internal sealed class RouteNode
{
    private readonly List<(string Text, RouteNode Node)> _literals = [];
    private readonly List<(string Prefix, string Suffix, RouteNode Node)> _parameters = [];
    private readonly Route?[] _routes = new Route?[2];
    private RouteNode? _rest;

    /// <summary>The node below for a literal segment.</summary>
    public RouteNode Literal(string text)
    {
        foreach (var (known, node) in _literals)
        {
            if (string.Equals(known, text, StringComparison.Ordinal))
            {
                return node;
            }
        }

        var added = new RouteNode();
        _literals.Add((text, added));
        return added;
    }

    /// <summary>The node below for a parameter, which takes any segment that is longer than prefix and suffix. Longer ones are tried first.</summary>
    public RouteNode Parameter(string prefix, string suffix)
    {
        foreach (var (knownPrefix, knownSuffix, node) in _parameters)
        {
            if (knownPrefix == prefix && knownSuffix == suffix)
            {
                return node;
            }
        }

        var added = new RouteNode();
        _parameters.Add((prefix, suffix, added));
        _parameters.Sort(static (x, y) => (y.Prefix.Length + y.Suffix.Length).CompareTo(x.Prefix.Length + x.Suffix.Length));
        return added;
    }

    /// <summary>The node for whatever is left of the path, nothing included.</summary>
    public RouteNode Rest() => _rest ??= new RouteNode();

    /// <summary>Takes up an endpoint that ends here.</summary>
    public void Add(RouteEndpoint endpoint, EndpointPlace place)
    {
        if (place.OnPublic)
        {
            Route.Add(ref _routes[(int)Listener.Public], endpoint, place);
        }

        if (place.OnOperations)
        {
            Route.Add(ref _routes[(int)Listener.Operations], endpoint, place);
        }
    }

    /// <summary>The route for the rest of a path without its leading slash; null when nothing on the listener matches.</summary>
    public Route? Find(ReadOnlySpan<char> path, Listener listener)
    {
        var slash = path.IndexOf('/');
        var segment = slash < 0 ? path : path[..slash];
        if (segment.IsEmpty || RequestTarget.IsDotSegment(segment))
        {
            // An empty segment is the root itself ("/"), a double slash or one at the end: only the root may be asked for like that.
            return path.IsEmpty ? End(listener) : null;
        }

        foreach (var (text, node) in _literals)
        {
            if (segment.SequenceEqual(text) && node.Next(path, slash, listener) is { } route)
            {
                return route;
            }
        }

        foreach (var (prefix, suffix, node) in _parameters)
        {
            if (segment.Length > prefix.Length + suffix.Length && segment.StartsWith(prefix) && segment.EndsWith(suffix)
                && node.Next(path, slash, listener) is { } route)
            {
                return route;
            }
        }

        return _rest is not null && IsClean(path) ? _rest._routes[(int)listener] : null;
    }

    private Route? Next(ReadOnlySpan<char> path, int slash, Listener listener) =>
        slash < 0 ? End(listener) : slash == path.Length - 1 ? null : Find(path[(slash + 1)..], listener);

    private Route? End(Listener listener) => _routes[(int)listener] ?? _rest?._routes[(int)listener];

    private static bool IsClean(ReadOnlySpan<char> path)
    {
        foreach (var range in path.Split('/'))
        {
            if (path[range].IsEmpty || RequestTarget.IsDotSegment(path[range]))
            {
                return false;
            }
        }

        return true;
    }
}
