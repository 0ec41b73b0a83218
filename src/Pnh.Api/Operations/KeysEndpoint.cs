using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Stores;

namespace Pnh.Api.Operations;

/// <summary>
/// <c>/keys</c> on the operations listener, with the operator's secret: POST makes a publisher key, stores its hash, takes it up at once, and
/// answers 201 with the secret; GET lists an app's; DELETE ends one at once. The running hub does it because one process writes the database.
/// </summary>
internal sealed class KeysEndpoint
{
    /// <summary>The path.</summary>
    public const string Path = "/keys";

    /// <summary>Fewest digits of an id: fewer would be a slip.</summary>
    public const int FewestIdDigits = 4;

    private const int BodyBytes = 4 * 1024;
    private readonly PublisherKeys _keys;
    private readonly Func<string, bool> _isApp;
    private readonly IPublisherKeyStore _store;
    private readonly TimeProvider _time;

    /// <summary>Keys may be made for the apps that <paramref name="isApp"/> knows.</summary>
    public KeysEndpoint(PublisherKeys keys, Func<string, bool> isApp, IPublisherKeyStore store, TimeProvider time)
    {
        _keys = keys;
        _isApp = isApp;
        _store = store;
        _time = time;
    }

    /// <summary>True for what may name a key: the beginning of its SHA-256 in hexadecimal digits.</summary>
    public static bool IsId(string text) => text.Length is >= FewestIdDigits and <= 64 && text.All(char.IsAsciiHexDigit);

    /// <summary>Maps it.</summary>
    public void Map(IEndpointRouteBuilder endpoints)
    {
        endpoints.MapPost(Path, AddAsync).OnOperations().RequireOperator();
        endpoints.MapGet(Path, ListAsync).OnOperations().RequireOperator();
        endpoints.MapDelete($"{Path}/{{id}}", RevokeAsync).OnOperations().RequireOperator();
    }

    private async Task AddAsync(HttpContext context)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, BodyBytes, context.RequestAborted);
        var (app, scopes) = ((string?)null, Scope.None);
        var problem = body.Problem ?? Read(body.Bytes.Span, out app, out scopes);
        if (problem is not null)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        var (secret, key) = PublisherKey.Create(app!, scopes);
        _keys.Add(key); // before it can be listed: revoked between the two it would be good until the next start. Nobody has the secret yet
        try
        {
            await _store.AddAsync(key.ToStored(_time.GetUtcNow()), context.RequestAborted);
        }
        catch
        {
            _keys.Remove(key.Hash);
            throw;
        }

        await JsonAnswer.WriteSecretAsync(
            context.Response, StatusCodes.Status201Created, new(secret, key.App, key.Scopes.Text().Split(' ')), OperationsJson.Default.KeyResponseBody);
    }

    private async Task ListAsync(HttpContext context)
    {
        if (ReadApp(context, out var app) is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        var stored = await _store.LoadAsync(context.RequestAborted);
        KeyBody[] keys = [.. _keys.ConfiguredOf(app).Select(static key => Show(key, null)), .. stored.Where(key => key.App == app).Select(Show)];
        await JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status200OK, new(keys), OperationsJson.Default.KeyListBody);
    }

    private async Task RevokeAsync(HttpContext context)
    {
        var id = PathId.TryRead(context, "id", out var read) && IsId(read) ? read.ToLowerInvariant() : null;
        var problem = ReadApp(context, out var app) ?? (id is not null ? null : new Problem(
            ProblemCatalogue.InvalidId, $"A key's id is the beginning of its SHA-256, {FewestIdDigits} to 64 hexadecimal digits."));
        StoredKey? revoked = null;
        if (problem is null)
        {
            (revoked, problem) = await RevokeAsync(app, id!, context.RequestAborted);
        }

        await (problem?.ExecuteAsync(context) ?? JsonAnswer.WriteSecretAsync(context.Response, StatusCodes.Status200OK, Show(revoked!), OperationsJson.Default.KeyBody));
    }

    /// <summary>The key that is no more, or why none was revoked.</summary>
    private async Task<(StoredKey? Revoked, Problem? Problem)> RevokeAsync(string app, string id, CancellationToken cancellationToken)
    {
        var stored = (await _store.LoadAsync(cancellationToken)).Where(key => key.App == app && Hash(key).ToHex().StartsWith(id, StringComparison.Ordinal)).ToList();
        var configured = _keys.ConfiguredOf(app).Select(static key => key.Hash).Where(hash => hash.ToHex().StartsWith(id, StringComparison.Ordinal)).ToHashSet();
        var found = stored.Select(Hash).Concat(configured).Distinct().Count();
        if (found != 1)
        {
            return (null, found == 0
                ? new(ProblemCatalogue.NoSuchItem, $"App {app} has no key whose id begins with {id}.")
                : new(ProblemCatalogue.InvalidId, $"{found} keys of app {app} have ids that begin with {id}: give more digits."));
        }

        // One that stands in the configuration too is taken from the store all the same, or it would be good again once it is out of there.
        foreach (var key in stored)
        {
            // Stored first: a key that came back with the next start would be no revoked one.
            await _store.RemoveAsync(key.Hash, cancellationToken);
            _keys.Remove(Hash(key));
        }

        return configured.Count == 0 ? (stored[0], null) : (null, new(
            ProblemCatalogue.Forbidden, $"Key {id} stands in the configuration, Pnh:Apps:{app}:Keys: take it out there and start the hub again."));
    }

    private Problem? ReadApp(HttpContext context, out string app)
    {
        app = context.Request.Query["app"].ToString();
        return Ids.IsApp(app) && _isApp(app) ? null : new(ProblemCatalogue.InvalidQuery, errors: [new("/app", "unknown-app", "No such app is configured.")]);
    }

    private Problem? Read(ReadOnlySpan<byte> body, out string? app, out Scope scopes)
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
        if (!Ids.IsApp(request.App) || !_isApp(request.App))
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

    private static KeyHash Hash(StoredKey key) => KeyHash.FromBytes(key.Hash.Span);

    private static KeyBody Show(StoredKey stored) => Show(PublisherKey.Of(stored), stored.CreatedAt);

    private static KeyBody Show(PublisherKey key, DateTimeOffset? madeAt) => new(key.Hash.ToId(), key.Scopes.Text().Split(' '), madeAt);
}
