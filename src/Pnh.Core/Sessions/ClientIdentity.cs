namespace Pnh.Core.Sessions;

/// <summary>Whom a client token speaks for.</summary>
/// <param name="App">The app the token was made for (<c>aud</c>).</param>
/// <param name="User"><c>sub</c>.</param>
/// <param name="Device">The only device it may use; null = any of the user's.</param>
/// <param name="Topics">Topics its sessions may join; empty = none.</param>
/// <param name="ExpiresAt">When nobody takes it any more: <c>exp</c>, and as much as clocks may be apart. A session is closed then.</param>
public sealed record ClientIdentity(string App, string User, string? Device, IReadOnlyList<string> Topics, DateTimeOffset ExpiresAt)
{
    /// <summary>True when the token allows the topic: by name, or by a trailing <c>*</c> that stands for any rest.</summary>
    public bool MayJoin(string topic)
    {
        foreach (var allowed in Topics)
        {
            if (allowed.EndsWith('*')
                ? topic.AsSpan().StartsWith(allowed.AsSpan(0, allowed.Length - 1), StringComparison.Ordinal)
                : string.Equals(allowed, topic, StringComparison.Ordinal))
            {
                return true;
            }
        }

        return false;
    }
}

/// <summary>Checks client tokens. Thread-safe, does not wait.</summary>
public interface IClientAuthenticator
{
    /// <summary>The refusal of a token of which all was valid but its age, the signature too.</summary>
    const string Expired = "expired";

    /// <summary>
    /// True when a later token of the same issuer may be taken: keys are replaced on both sides one after the other, clocks are set, and a user who was erased may be back. Its form, its app and its claims stay wrong.
    /// </summary>
    static bool IsPassing(string refusal) => refusal is Expired or "unknown-key" or "wrong-algorithm" or "bad-signature" or "not-yet-valid" or "erased-user";

    /// <summary>Whom the token speaks for; null when it is not valid now. <paramref name="refusal"/> says why without repeating the token.</summary>
    ClientIdentity? Authenticate(ReadOnlySpan<char> token, out string? refusal);

    /// <summary>
    /// The origin (RFC 6454) that an upgrade request names, as <see cref="TakesOrigin"/> wants it; null = none, or nobody cares, or it is that of <paramref name="host"/>, the request's Host.
    /// </summary>
    string? OriginOf(string? header, string host) => null;

    /// <summary>Whether a page of this origin may open a session of the app.</summary>
    bool TakesOrigin(string app, string? origin) => true;
}
