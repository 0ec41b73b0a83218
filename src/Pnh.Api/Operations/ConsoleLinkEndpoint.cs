using Pnh.Api.Bodies;
using Pnh.Api.Routing;

namespace Pnh.Api.Operations;

/// <summary><c>POST /console/links</c> on the operations listener, with the operator's secret: 201 with a link that signs one browser in.</summary>
internal static class ConsoleLinkEndpoint
{
    /// <summary>The path.</summary>
    public const string Path = "/console/links";

    /// <summary>Maps it.</summary>
    public static IEndpointConventionBuilder MapConsoleLinks(this IEndpointRouteBuilder endpoints, Func<Uri> createLink) =>
        endpoints.MapPost(Path, (HttpContext context) => AnswerAsync(context, createLink())).OnOperations().RequireOperator();

    // A method of its own: the generator of delegates does not see what the generator of JSON makes.
    private static Task AnswerAsync(HttpContext context, Uri link) =>
        JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status201Created, new(link.AbsoluteUri), OperationsJson.Default.ConsoleLinkBody);
}
