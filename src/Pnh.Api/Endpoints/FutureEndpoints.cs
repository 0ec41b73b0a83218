using Pnh.Api.Access;

namespace Pnh.Api.Endpoints;

/// <summary>Addresses of the contract that answer 501 until the delivery promises bring them.</summary>
internal static class FutureEndpoints
{
    public static void MapFuture(this IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/feed", NotYet.Answer).RequireScope(Scope.Read);
        routes.MapGet("/v1/inbox", NotYet.Answer).RequireClient();
        routes.MapPost("/v1/inbox/ack", NotYet.Answer).RequireClient();
        routes.MapGet("/v1/events/{id}", NotYet.Answer).RequireScope(Scope.Read);
        routes.MapPost("/v1/events/{id}/withdraw", NotYet.Answer).RequireScope(Scope.Send);
    }
}
