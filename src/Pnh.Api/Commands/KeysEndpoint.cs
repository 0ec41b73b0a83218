using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.FrontDoor;
using Pnh.Api.Problems;
using Pnh.Core.Events;

namespace Pnh.Api.Commands;

/// <summary>Writes a key to stable storage; done when the task is. Throws <see cref="Core.Devices.StoreUnavailableException"/> when it cannot.</summary>
internal delegate Task SavePublisherKey(PublisherKey key, CancellationToken cancellationToken);

/// <summary>
/// <c>POST /keys</c> on the operations listener, with the operator's secret: makes a publisher key, stores its hash, takes it up at once, and
/// answers 201 with the secret. The running hub does it because one process writes the database.
/// </summary>
internal static class KeysEndpoint
{
    /// <summary>The path.</summary>
    public const string Path = "/keys";

    private const int BodyBytes = 4 * 1024;

    /// <summary>Maps it. Keys may be made for the apps that <paramref name="isApp"/> knows.</summary>
    public static IEndpointConventionBuilder MapKeys(
        this IEndpointRouteBuilder endpoints, PublisherKeys keys, Func<string, bool> isApp, SavePublisherKey save) =>
        endpoints.MapPost(Path, (HttpContext context) => AddAsync(context, keys, isApp, save)).OnOperations().RequireOperator();

    private static async Task AddAsync(HttpContext context, PublisherKeys keys, Func<string, bool> isApp, SavePublisherKey save)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, BodyBytes, context.RequestAborted);
        var problem = body.Problem ?? Read(body.Bytes.Span, isApp, out var app, out var scopes) ?? await MakeAsync();
        if (problem is not null)
        {
            await problem.ExecuteAsync(context);
        }

        async Task<Problem?> MakeAsync()
        {
            var (secret, key) = PublisherKey.Create(app!, scopes);
            await save(key, context.RequestAborted);
            keys.Add(key);
            context.Response.StatusCode = StatusCodes.Status201Created;
            context.Response.ContentType = RequestBody.Json;
            context.Response.Headers.CacheControl = "no-store";
            await using var json = new Utf8JsonWriter(context.Response.BodyWriter);
            JsonSerializer.Serialize(json, new KeyResponseBody(secret, key.App, key.Scopes.Text().Split(' ')), OperationsJson.Default.KeyResponseBody);
            return null;
        }
    }

    private static Problem? Read(ReadOnlySpan<byte> body, Func<string, bool> isApp, out string? app, out Scope scopes)
    {
        (app, scopes) = (null, Scope.None);
        KeyRequestBody? request;
        try
        {
            request = JsonSerializer.Deserialize(body, OperationsJson.Default.KeyRequestBody);
        }
        catch (JsonException exception)
        {
            return new(ProblemCatalogue.MalformedBody, $"Not a key request: {exception.Path ?? "$"}.");
        }

        if (request is null)
        {
            return new(ProblemCatalogue.MalformedBody, "The body is null.");
        }

        var errors = new List<FieldError>();
        if (!Ids.IsApp(request.App) || !isApp(request.App))
        {
            errors.Add(new("/app", "unknown-app", "No such app is configured."));
        }

        if (!Scopes.TryParse(string.Join(' ', request.Scopes), out scopes, out _))
        {
            errors.Add(new("/scopes", "unknown-scope", $"Use one or more of {string.Join(", ", Scopes.Names)}."));
        }

        app = request.App;
        return errors.Count == 0 ? null : new(ProblemCatalogue.InvalidBody, errors: errors);
    }
}
