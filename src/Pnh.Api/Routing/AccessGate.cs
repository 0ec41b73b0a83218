using Microsoft.Extensions.Primitives;
using Pnh.Api.Access;
using Pnh.Api.Listeners;
using Pnh.Api.Problems;

namespace Pnh.Api.Routing;

/// <summary>
/// The one place that decides who gets through: behind routing, in front of every endpoint. Reads the endpoint's <see cref="AccessRule"/>,
/// finds the <see cref="Caller"/> by the Authorization header and puts it on the context, or answers 401 or 403 (RFC 6750 section 3).
/// Thread-safe; a publisher's request allocates nothing here.
/// </summary>
internal sealed partial class AccessGate
{
    private static readonly StringValues AskForBearer = "Bearer";
    private static readonly StringValues InvalidToken = "Bearer error=\"invalid_token\"";

    private static readonly StringValues NoStore = "no-store";

    private readonly RequestDelegate _next;
    private readonly PublisherKeys _keys;
    private readonly ClientTokens _tokens;
    private readonly KeyHash? _operator;
    private readonly ILogger<AccessGate> _logger;

    /// <summary>In front of <paramref name="next"/>; without an operator's hash nothing is open to an operator.</summary>
    public AccessGate(RequestDelegate next, PublisherKeys keys, ClientTokens tokens, KeyHash? operatorSecret, ILogger<AccessGate> logger)
    {
        _next = next;
        _keys = keys;
        _tokens = tokens;
        _operator = operatorSecret;
        _logger = logger;
    }

    /// <summary>Middleware entry.</summary>
    public Task InvokeAsync(HttpContext context)
    {
        // The front door said so already, by its own reading of the target; routing reads it again, and what the two read differently must open nothing.
        if (context.GetEndpoint() is not { } endpoint || !EndpointPlace.Of(endpoint).IsOn(ListenerMark.Of(context)))
        {
            return StaticProblem.NotFound.WriteAsync(context);
        }

        if (endpoint.Metadata.GetMetadata<AccessRule>() is not { } rule)
        {
            return Forbid(context, "The endpoint has no access rule.", null);
        }

        if (rule.Kind == AccessKind.Anyone)
        {
            return _next(context);
        }

        var credential = BearerCredential.Read(context.Request.Headers.Authorization);
        if (credential.IsEmpty)
        {
            return Challenge(context, AskForBearer);
        }

        if (Find(credential, rule, out var refusal) is not { } caller)
        {
            Log.Refused(_logger, refusal ?? "unknown-key");
            return refusal is null ? Challenge(context, InvalidToken) : Challenge(context, refusal);
        }

        if (Deny(context, endpoint, rule, caller) is { } reason)
        {
            return Forbid(context, reason, rule);
        }

        // What a user's devices and events are is nobody else's, nor a cache's.
        if (HttpMethods.IsGet(context.Request.Method))
        {
            context.Response.Headers.CacheControl = NoStore;
        }

        context.Features.Set(caller);
        return _next(context);
    }

    private Caller? Find(ReadOnlySpan<char> credential, AccessRule rule, out string? refusal)
    {
        refusal = null;
        if (rule.Kind == AccessKind.Operator)
        {
            return credential.Length <= PublisherKeys.SecretCharacters && _operator == KeyHash.Of(credential) ? Caller.Operator : null;
        }

        if (_keys.Find(credential) is { } publisher)
        {
            return publisher;
        }

        // A key may hold dots, but only what looks like a JWT gets a token's reason for its refusal.
        return credential.Contains('.') && _tokens.Authenticate(credential, out refusal) is { } identity ? Caller.OfClient(identity) : null;
    }

    /// <summary>Null when the caller may; otherwise why not, for the caller to read.</summary>
    private static string? Deny(HttpContext context, Endpoint endpoint, AccessRule rule, Caller caller) => (rule.Kind, caller.Client) switch
    {
        (AccessKind.Publisher or AccessKind.PublisherOrOwner, null) =>
            caller.Scopes.Cover(rule.Scope) ? null : $"The key lacks the scope {rule.Scope.Text()}.",
        (AccessKind.Publisher, _) => "This takes a publisher key, not a client token.",
        (AccessKind.Client, null) => "This takes a client token, not a publisher key.",
        (AccessKind.PublisherOrOwner, { } client) => DenyOwner(context, (RouteEndpoint)endpoint, client),
        _ => null,
    };

    private static string? DenyOwner(HttpContext context, RouteEndpoint endpoint, Core.Sessions.ClientIdentity client)
    {
        if (!PathId.TryRead(context, PathId.User, out var user) || !string.Equals(user, client.User, StringComparison.Ordinal))
        {
            return "A client token reaches only its own user.";
        }

        if (client.Device is null)
        {
            return null;
        }

        if (!AccessRule.HasParameter(endpoint, PathId.Device))
        {
            return HttpMethods.IsGet(context.Request.Method) ? null : "This client token is for one device only.";
        }

        return PathId.TryRead(context, PathId.Device, out var device) && string.Equals(device, client.Device, StringComparison.Ordinal)
            ? null
            : "This client token is for another device.";
    }

    private static Task Challenge(HttpContext context, StringValues challenge)
    {
        context.Response.Headers.WWWAuthenticate = challenge;
        return StaticProblem.Unauthorized.WriteAsync(context);
    }

    /// <summary>The answer to a client token, or another credential of a client, that is not valid.</summary>
    internal static Task Challenge(HttpContext context, string refusal, string credential = "client token")
    {
        context.Response.Headers.WWWAuthenticate = $"Bearer error=\"invalid_token\", error_description=\"{refusal}\"";
        return new Problem(ProblemCatalogue.Unauthorized, $"The {credential} is not valid: {refusal}.").ExecuteAsync(context);
    }

    private static Task Forbid(HttpContext context, string reason, AccessRule? rule)
    {
        if (rule is not null && rule.Scope != Scope.None)
        {
            context.Response.Headers.WWWAuthenticate = $"Bearer error=\"insufficient_scope\", scope=\"{rule.Scope.Text()}\"";
        }

        return new Problem(ProblemCatalogue.Forbidden, reason).ExecuteAsync(context);
    }
}

/// <summary>Puts the gate into a pipeline.</summary>
internal static class AccessGateExtensions
{
    /// <summary>
    /// Behind UseFrontDoor. Takes <see cref="PublisherKeys"/> and <see cref="ClientTokens"/> from the services, once.
    /// </summary>
    /// <param name="app">The pipeline.</param>
    /// <param name="operatorSecret">As <see cref="OperatorSecret"/> keeps it; null = no endpoint is open to an operator.</param>
    public static IApplicationBuilder UseAccessGate(this IApplicationBuilder app, string? operatorSecret)
    {
        var services = app.ApplicationServices;
        var keys = services.GetRequiredService<PublisherKeys>();
        var tokens = services.GetRequiredService<ClientTokens>();
        var logger = services.GetRequiredService<ILogger<AccessGate>>();
        KeyHash? hash = operatorSecret is null ? null : KeyHash.Of(operatorSecret);
        return app.Use(next => new AccessGate(next, keys, tokens, hash, logger).InvokeAsync);
    }
}
