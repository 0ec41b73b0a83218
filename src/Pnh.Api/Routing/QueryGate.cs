using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Routing;

/// <summary>
/// Refuses query parameters below <c>/v1</c> that the endpoint does not take: a filter that is spelled wrong must not answer with everything. Behind the access gate.
/// Thread-safe; costs nothing without a query.
/// </summary>
internal sealed class QueryGate(RequestDelegate next)
{
    private const int MostErrors = 16;
    private const int MostCharacters = 64;

    /// <summary>Middleware entry.</summary>
    public Task InvokeAsync(HttpContext context) =>
        context.Request.QueryString.HasValue && context.GetEndpoint() is RouteEndpoint endpoint && Refuse(context, endpoint) is { } problem
            ? problem.ExecuteAsync(context)
            : next(context);

    private static Problem? Refuse(HttpContext context, RouteEndpoint endpoint)
    {
        if (endpoint.RoutePattern.RawText?.StartsWith("/v1/", StringComparison.Ordinal) != true)
        {
            return null;
        }

        var taken = endpoint.Metadata.GetMetadata<QueryNames>()?.Names ?? [];
        var errors = context.Request.Query.Keys.Where(name => !taken.Contains(name, StringComparer.OrdinalIgnoreCase)).Take(MostErrors)
            .Select(static name => new FieldError($"/{(name.Length > MostCharacters ? name[..MostCharacters] : name)}", "unknown-parameter", "This endpoint takes no such parameter."))
            .ToList();
        return errors.Count == 0 ? null : new Problem(ProblemCatalogue.InvalidQuery, errors: errors);
    }
}

/// <summary>The query parameters that an endpoint takes, as its metadata; none without it.</summary>
internal sealed record QueryNames(IReadOnlyList<string> Names);

/// <summary>How endpoints say which parameters they take.</summary>
internal static class QueryConventions
{
    /// <summary>These and no others.</summary>
    public static TBuilder TakesQuery<TBuilder>(this TBuilder builder, params string[] names)
        where TBuilder : IEndpointConventionBuilder => builder.WithMetadata(new QueryNames(names));
}
