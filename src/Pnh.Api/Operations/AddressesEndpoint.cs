using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Addresses;

namespace Pnh.Api.Operations;

/// <summary>
/// <c>/addresses</c> on the operations listener, with the operator's secret: GET lists the accounts of which addresses rest; POST <c>/addresses/release</c> lets them have pushes again, <c>/addresses/drop</c> takes
/// them off their devices. Both name the account: <c>?account=apns/demo/0</c>.
/// </summary>
internal sealed class AddressesEndpoint(AddressRests rests)
{
    /// <summary>The path.</summary>
    public const string Path = "/addresses";

    /// <summary>Behind it.</summary>
    public const string Release = "/release";

    /// <summary>The other one.</summary>
    public const string Drop = "/drop";

    /// <summary>Maps it.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        endpoints.MapGet(Path, ListAsync).OnOperations().RequireOperator();
        endpoints.MapPost(Path + Release, context => EndAsync(context, rests.ReleaseAsync)).OnOperations().RequireOperator();
        endpoints.MapPost(Path + Drop, context => EndAsync(context, rests.DropAsync)).OnOperations().RequireOperator();
    }

    private static RestingAccountBody Show((string Channel, string Account, int Count, string? Reason, DateTimeOffset Since) one) =>
        new($"{one.Channel}/{one.Account}", one.Count, one.Reason, one.Since);

    private Task ListAsync(HttpContext context) =>
        JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status200OK, new([.. rests.Read().Select(Show)]), OperationsJson.Default.RestingListBody);

    private async Task EndAsync(HttpContext context, Func<string, string, CancellationToken, Task<int>> end)
    {
        var name = context.Request.Query["account"].ToString();
        var found = rests.Read().FirstOrDefault(one => $"{one.Channel}/{one.Account}" == name);
        if (found.Account is null)
        {
            await new Problem(ProblemCatalogue.NoSuchItem, "No address of that account rests; GET /addresses lists those of which some do.").ExecuteAsync(context);
            return;
        }

        var count = await end(found.Channel, found.Account, context.RequestAborted);
        await JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status200OK, Show(found) with { Count = count }, OperationsJson.Default.RestingAccountBody);
    }
}
