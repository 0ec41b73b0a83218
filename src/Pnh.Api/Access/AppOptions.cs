namespace Pnh.Api.Access;

/// <summary>One app (tenant). Provider accounts are read by the channels from the same section.</summary>
/// <param name="Name">Checked by <see cref="Core.Events.Ids.IsApp"/>.</param>
/// <param name="Keys">Publisher keys; empty = only those added at run time.</param>
/// <param name="Tokens">How client tokens are checked; null = the app takes none.</param>
internal sealed record AppOptions(string Name, IReadOnlyList<KeyOptions> Keys, TokenOptions? Tokens)
{
    /// <summary>Whether clients may publish with the socket's <c>send</c>. Default false.</summary>
    public bool ClientSend { get; init; }

    /// <summary>Schemes of a notification's link besides https.</summary>
    public IReadOnlyList<string> LinkSchemes { get; init; } = [];

    /// <summary>The line that providers get in place of texts and data; null = they get both.</summary>
    public string? ContentText { get; init; }

    /// <summary>Web pages that may use it; empty = no CORS headers, and sockets of any page.</summary>
    public IReadOnlyList<string> Origins { get; init; } = [];

    /// <summary>It has no key, no token secret and no provider in the configuration: nobody reaches it but with keys made at run time.</summary>
    public bool IsBare { get; init; }

    /// <summary>Without secrets.</summary>
    public override string ToString() => $"{Name} ({Keys.Count} keys)";
}

/// <summary>A configured publisher key. The secret itself is not kept.</summary>
/// <param name="Path">Configuration path, for messages.</param>
/// <param name="Hash">SHA-256 of the secret.</param>
/// <param name="Scopes">At least one.</param>
internal sealed record KeyOptions(string Path, KeyHash Hash, Scope Scopes)
{
    /// <summary>Without the hash.</summary>
    public override string ToString() => $"{Path} [{Scopes.Text()}]";
}

/// <summary>How an app's client tokens are checked: with a shared secret, or with public keys of one or several issuers' keys.</summary>
internal sealed record TokenOptions
{
    /// <summary>Shared secrets of HS256, each at least 32 bytes in UTF-8 (RFC 7518 section 3.2), the one that makes tokens first; empty when <see cref="PublicKeys"/> are used.</summary>
    public IReadOnlyList<string> Hs256Secrets { get; init; } = [];

    /// <summary>The secret that makes tokens; null = tokens are made elsewhere.</summary>
    public string? Hs256Secret => Hs256Secrets.Count == 0 ? null : Hs256Secrets[0];

    /// <summary>Public keys with their pinned algorithms; empty when <see cref="Hs256Secrets"/> are used.</summary>
    public IReadOnlyList<TokenKey> PublicKeys { get; init; } = [];

    /// <summary>What <c>aud</c> must name; null = the app's name. No two apps share one.</summary>
    public string? Audience { get; init; }

    /// <summary>Whether both take the same tokens.</summary>
    public bool HasSameKeys(TokenOptions other) =>
        Hs256Secrets.SequenceEqual(other.Hs256Secrets) && PublicKeys.Select(static key => key.Mark).SequenceEqual(other.PublicKeys.Select(static key => key.Mark));

    /// <summary>Without the secret.</summary>
    public override string ToString() => Hs256Secret is null ? $"{PublicKeys.Count} public keys" : "HS256";
}
