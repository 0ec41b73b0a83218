using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.WebPush;

namespace Pnh.Api.Endpoints;

/// <summary>What a page needs to subscribe to Web Push: the public key of the caller's app. It is no secret; the credential says which app.</summary>
internal sealed class WebPushEndpoint(IWebPushKeys keys)
{
    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/v1/webpush/key", ReadAsync).RequireCredential();

    private Task ReadAsync(HttpContext context) => keys.FindKey(Caller.Of(context).App) is { } key
        ? WriteAsync(context.Response, key)
        : new Problem(ProblemCatalogue.NoWebPush, "The app has no Web Push account.").ExecuteAsync(context);

    private static async Task WriteAsync(HttpResponse response, string key)
    {
        response.ContentType = RequestBody.Json;
        await using var json = new Utf8JsonWriter(response.BodyWriter);
        json.WriteStartObject();
        json.WriteString("key", key);
        json.WriteEndObject();
    }
}
