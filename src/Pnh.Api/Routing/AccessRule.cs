using Microsoft.AspNetCore.Routing.Patterns;
using Pnh.Api.Access;

namespace Pnh.Api.Routing;

/// <summary>Whose credentials an endpoint takes.</summary>
internal enum AccessKind
{
    /// <summary>None are asked for: the endpoint checks for itself, or has nothing to hide.</summary>
    Anyone,

    /// <summary>A publisher key with the scope.</summary>
    Publisher,

    /// <summary>A publisher key with the scope, or a client token of the user (and device) in the path.</summary>
    PublisherOrOwner,

    /// <summary>A client token.</summary>
    Client,

    /// <summary>A publisher key of any scope, or a client token: the endpoint tells what is no secret of the app.</summary>
    Any,

    /// <summary>The operator's secret.</summary>
    Operator,
}

/// <summary>Who may call an endpoint, as its metadata. Every endpoint must say it; <see cref="AccessGate"/> alone enforces it.</summary>
/// <param name="Kind">Whose credentials.</param>
/// <param name="Scope">What a publisher's key must allow; None for the other kinds.</param>
internal sealed record AccessRule(AccessKind Kind, Scope Scope)
{
    /// <summary>Throws <see cref="InvalidOperationException"/> when the endpoint has no rule, or one that its route cannot keep.</summary>
    public static void Check(RouteEndpoint endpoint)
    {
        var rule = endpoint.Metadata.GetMetadata<AccessRule>()
            ?? throw new InvalidOperationException($"Endpoint {endpoint.RoutePattern.RawText} does not say who may call it: add a Require… or AllowAnyone convention.");
        if (rule.Kind == AccessKind.PublisherOrOwner && !HasParameter(endpoint, PathId.User))
        {
            throw new InvalidOperationException($"Endpoint {endpoint.RoutePattern.RawText} is open to owners, so its route needs a segment {{{PathId.User}}}.");
        }
    }

    /// <summary>True when a segment of the route is exactly this parameter.</summary>
    public static bool HasParameter(RouteEndpoint endpoint, string name) => endpoint.RoutePattern.PathSegments.Any(
        segment => segment.IsSimple && segment.Parts[0] is RoutePatternParameterPart part && part.Name == name);
}

/// <summary>How endpoints say who may call them. The last one said holds.</summary>
internal static class AccessConventions
{
    /// <summary>A publisher key that covers the scope.</summary>
    public static TBuilder RequireScope<TBuilder>(this TBuilder builder, Scope scope)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.Publisher, scope));

    /// <summary>
    /// A publisher key that covers the scope, or a client token whose user is the route's <c>{user}</c> and whose device, when it names one, is
    /// the route's <c>{device}</c>. A token for one device does not reach a route without <c>{device}</c>, unless the method only reads.
    /// </summary>
    public static TBuilder RequireScopeOrOwner<TBuilder>(this TBuilder builder, Scope scope)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.PublisherOrOwner, scope));

    /// <summary>A client token; the endpoint acts for the caller's own user only.</summary>
    public static TBuilder RequireClient<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.Client, Scope.None));

    /// <summary>A publisher key of any scope, or a client token.</summary>
    public static TBuilder RequireCredential<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.Any, Scope.None));

    /// <summary>The secret of the data folder.</summary>
    public static TBuilder RequireOperator<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.Operator, Scope.None));

    /// <summary>No credentials are looked at.</summary>
    public static TBuilder AllowAnyone<TBuilder>(this TBuilder builder)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new AccessRule(AccessKind.Anyone, Scope.None));
}
