using Pnh.Core.Sessions;

namespace Pnh.Api.Access;

/// <summary>
/// Who sent the request, as a feature of the <see cref="HttpContext"/>: a publisher (a key with scopes), a client (a user's token), or the
/// operator of the hub (the secret in the data folder). Shared by requests; nothing of it changes but that its key is revoked. Thread-safe.
/// </summary>
internal sealed class Caller
{
    private bool _isRevoked;

    private Caller(string app, Scope scopes, ClientIdentity? client, bool isOperator)
    {
        App = app;
        Scopes = scopes;
        Client = client;
        IsOperator = isOperator;
    }

    /// <summary>A user who may read the data folder. Speaks for no app.</summary>
    public static Caller Operator { get; } = new("", Scope.None, null, isOperator: true);

    /// <summary>The app whose data the caller may touch: always from the credential, never from the request. Empty for the operator.</summary>
    public string App { get; }

    /// <summary>A publisher's scopes; none for a client or the operator.</summary>
    public Scope Scopes { get; }

    /// <summary>A client's identity; null for a publisher or the operator.</summary>
    public ClientIdentity? Client { get; }

    /// <summary>True for <see cref="Operator"/>.</summary>
    public bool IsOperator { get; }

    /// <summary>True once the publisher's key is nobody's any more: for code that remembers a caller, or has a request of any length under way.</summary>
    public bool IsRevoked => Volatile.Read(ref _isRevoked);

    /// <summary>A key's holder.</summary>
    public static Caller OfPublisher(string app, Scope scopes) => new(app, scopes, null, isOperator: false);

    /// <summary>A user's device or browser.</summary>
    public static Caller OfClient(ClientIdentity identity) => new(identity.App, Scope.None, identity, isOperator: false);

    /// <summary>For good.</summary>
    public void Revoke() => Volatile.Write(ref _isRevoked, true);

    /// <summary>The request's caller. Throws when the endpoint lets in anyone: there is none then.</summary>
    public static Caller Of(HttpContext context) =>
        context.Features.Get<Caller>() ?? throw new InvalidOperationException("The endpoint's access rule takes no credentials, so there is no caller.");
}
