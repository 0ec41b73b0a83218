using System.Text.Json;
using Pnh.Api.Access;

namespace Pnh.Api.Operations;

/// <summary>What asking for a key gave: the key, or why not, in a sentence for a terminal.</summary>
internal readonly record struct KeyAnswer(string? Secret, string? Failure)
{
    /// <summary>Without the secret.</summary>
    public override string ToString() => Failure ?? "key";
}

/// <summary>The other side of <see cref="KeysEndpoint"/>, for <c>pnh key</c>.</summary>
internal static class KeysClient
{
    /// <summary>Asks for a new key. Failures are answers; only a cancelled <paramref name="cancellationToken"/> throws.</summary>
    public static async Task<KeyAnswer> AddAsync(OperationsClient hub, string app, Scope scopes, CancellationToken cancellationToken)
    {
        var body = JsonSerializer.SerializeToUtf8Bytes(new KeyRequestBody(app, scopes.Text().Split(' ')), OperationsJson.Default.KeyRequestBody);
        var (made, failure) = await hub.AskAsync(HttpMethod.Post, KeysEndpoint.Path, body, OperationsJson.Default.KeyResponseBody, cancellationToken);
        return new(made?.Key, failure);
    }

    /// <summary>Asks for an app's keys.</summary>
    public static Task<(KeyListBody? Answer, string? Failure)> ListAsync(OperationsClient hub, string app, CancellationToken cancellationToken) =>
        hub.AskAsync(HttpMethod.Get, $"{KeysEndpoint.Path}?app={app}", body: null, OperationsJson.Default.KeyListBody, cancellationToken);

    /// <summary>Has a key revoked; the answer is what it was.</summary>
    public static Task<(KeyBody? Answer, string? Failure)> RevokeAsync(OperationsClient hub, string app, string id, CancellationToken cancellationToken) =>
        hub.AskAsync(HttpMethod.Delete, $"{KeysEndpoint.Path}/{id}?app={app}", body: null, OperationsJson.Default.KeyBody, cancellationToken);
}
