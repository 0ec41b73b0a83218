using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Operations;

/// <summary><c>GET /cluster</c> on the operations listener, with the operator's secret: each node of the hub's cluster, and what they come to.</summary>
internal static class ClusterEndpoint
{
    /// <summary>The path.</summary>
    public const string Path = "/cluster";

    /// <summary>Maps it.</summary>
    public static IEndpointConventionBuilder MapCluster(this IEndpointRouteBuilder endpoints, Func<ClusterBody> read) =>
        endpoints.MapGet(Path, (HttpContext context) => AnswerAsync(context, read())).OnOperations().RequireOperator();

    // A method of its own: the generator of delegates does not see what the generator of JSON makes.
    private static Task AnswerAsync(HttpContext context, ClusterBody cluster) =>
        JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status200OK, cluster, OperationsJson.Default.ClusterBody);
}
