using System.Buffers;
using System.Buffers.Text;
using System.Collections.Frozen;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Pnh.Core.Sessions;
using Pnh.Core.Stores;
using Pnh.Core.Timing;
using Pnh.Core.Users;

namespace Pnh.Api.Access;

/// <summary>
/// Checks and makes client tokens: JWTs in compact form (RFC 7519, RFC 7515 section 7.1), signed and never encrypted. The audience names
/// the app; the app's configuration names the algorithm and the keys, and nothing in a token can change either (RFC 8725 section 3.1):
/// <c>jku</c>, <c>x5u</c> and <c>jwk</c> are not looked at, <c>none</c> is just another wrong algorithm. Thread-safe.
/// </summary>
internal sealed class ClientTokens : IClientAuthenticator
{
    /// <summary>Longest token looked at; more is refused before anything is parsed. 8 KB is what header limits elsewhere allow.</summary>
    public const int TokenBytes = 8 * 1024;

    private static readonly SearchValues<byte> Base64UrlBytes =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"u8);

    private readonly FrozenDictionary<string, TokenVerifier> _byAudience;
    private readonly FrozenDictionary<string, TokenVerifier> _byApp;
    private readonly Origins _origins;
    private readonly TimeProvider _time;
    private readonly IErasureStore? _erasures;

    /// <param name="apps">All apps; some take client tokens.</param>
    /// <param name="time">The hub's clock; tokens go by the machine's behind it.</param>
    /// <param name="erasures">Says which users' older tokens do not count; null = this node does not know.</param>
    public ClientTokens(IEnumerable<AppOptions> apps, TimeProvider time, IErasureStore? erasures = null)
    {
        _erasures = erasures;
        _origins = new Origins(apps);
        var verifiers = apps.Where(static app => app.Tokens is not null).Select(static app => new TokenVerifier(app.Name, app.Tokens!)).ToList();
        _byAudience = verifiers.ToFrozenDictionary(static verifier => verifier.Audience, StringComparer.Ordinal);
        _byApp = verifiers.ToFrozenDictionary(static verifier => verifier.App, StringComparer.Ordinal);
        _time = SteadyClock.WallOf(time);
    }

    /// <inheritdoc/>
    public string? OriginOf(string? header, string host) => _origins.Of(header, host);

    /// <inheritdoc/>
    public bool TakesOrigin(string app, string? origin) => _origins.Allow(app, origin);

    /// <inheritdoc/>
    public ClientIdentity? Authenticate(ReadOnlySpan<char> token, out string? refusal)
    {
        if (token.Length is 0 or > TokenBytes)
        {
            refusal = token.IsEmpty ? "missing" : "too-large";
            return null;
        }

        var buffer = ArrayPool<byte>.Shared.Rent(TokenBytes * 2);
        try
        {
            if (Ascii.FromUtf16(token, buffer, out var length) != OperationStatus.Done)
            {
                refusal = "malformed";
                return null;
            }

            return Authenticate(buffer.AsSpan(0, length), buffer.AsMemory(TokenBytes), out refusal);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer, clearArray: true);
        }
    }

    /// <summary>The apps that take client tokens.</summary>
    public IReadOnlyList<string> Apps => _byApp.Keys;

    /// <summary>Checks that app's tokens with these keys from now on; false = they are those of before. Sessions that are open stay.</summary>
    public bool Replace(string app, TokenOptions options) => _byApp[app].Replace(options);

    /// <summary>
    /// Makes a token for an app whose tokens are checked with a shared secret. Throws <see cref="InvalidOperationException"/> when the app is
    /// unknown or is checked with public keys: then only the owner of the private key can.
    /// </summary>
    /// <param name="app">App name.</param>
    /// <param name="user">Becomes <c>sub</c>.</param>
    /// <param name="device">The only device it may use; null = any.</param>
    /// <param name="lifetime">From now to <c>exp</c>; more than zero.</param>
    /// <param name="topics">Topics that sessions may join; null = none.</param>
    public string Create(string app, string user, string? device, TimeSpan lifetime, IReadOnlyList<string>? topics = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(lifetime, TimeSpan.Zero);
        if (!_byApp.TryGetValue(app, out var verifier) || verifier.Secret is null)
        {
            throw new InvalidOperationException($"App {app} has no Hs256Secret, so the hub cannot make tokens for it.");
        }

        var now = _time.GetUtcNow();
        var output = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            json.WriteString("aud", verifier.Audience);
            json.WriteString("sub", user);
            json.WriteNumber("iat", now.ToUnixTimeSeconds());
            json.WriteNumber("exp", (now + lifetime).ToUnixTimeSeconds());
            if (device is not null)
            {
                json.WriteString("device", device);
            }

            if (topics is { Count: > 0 })
            {
                json.WriteStartArray("topics");
                foreach (var topic in topics)
                {
                    json.WriteStringValue(topic);
                }

                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        var signed = $"{Base64Url.EncodeToString("""{"alg":"HS256","typ":"JWT"}"""u8)}.{Base64Url.EncodeToString(output.WrittenSpan)}";
        return $"{signed}.{Base64Url.EncodeToString(HMACSHA256.HashData(verifier.Secret, Encoding.ASCII.GetBytes(signed)))}";
    }

    private ClientIdentity? Authenticate(ReadOnlySpan<byte> token, Memory<byte> scratch, out string? refusal)
    {
        // 1. Three parts of pure base64url. Five would be an encrypted token (JWE); padding and white space are no part of the form.
        Span<Range> parts = stackalloc Range[4];
        if (!TrySplit(token, parts) || !TryDecode(token[parts[0]], ref scratch, out var header)
            || !TryDecode(token[parts[1]], ref scratch, out var payload) || !TryDecode(token[parts[2]], ref scratch, out var signature))
        {
            refusal = "malformed";
            return null;
        }

        // 2. What the token says of itself: not believed yet, only used to find whose key must confirm it.
        if (!TokenHeader.TryRead(header, out var said, out refusal) || !TokenClaims.TryRead(payload, out var claims, out refusal))
        {
            return null;
        }

        if (FindByAudience(claims.Audiences, out refusal) is not { } verifier)
        {
            return null;
        }

        // 3. The signature, with the app's own key and algorithm; then what the payload claims.
        refusal = verifier.Check(said, token[..parts[1].End.Value], signature.Span) ?? claims.CheckNames() ?? CheckTimes(claims, verifier.App);
        return refusal is null ? claims.ToIdentity(verifier.App) : null;
    }

    private string? CheckTimes(TokenClaims claims, string app)
    {
        var now = _time.GetUtcNow();
        return claims.CheckTimes(now) ?? (_erasures?.FindBarrier(new UserKey(app, claims.Subject!)) is { } barrier ? claims.CheckErasure(barrier, now) : null);
    }

    private TokenVerifier? FindByAudience(IReadOnlyList<string> audiences, out string? refusal)
    {
        TokenVerifier? found = null;
        foreach (var audience in audiences)
        {
            if (_byAudience.TryGetValue(audience, out var verifier) && verifier != found)
            {
                if (found is not null)
                {
                    refusal = "ambiguous-audience";
                    return null;
                }

                found = verifier;
            }
        }

        refusal = found is null ? "unknown-audience" : null;
        return found;
    }

    private static bool TrySplit(ReadOnlySpan<byte> token, Span<Range> parts)
    {
        var first = token.IndexOf((byte)'.');
        var last = token.LastIndexOf((byte)'.');
        if (first <= 0 || last <= first + 1 || last == token.Length - 1)
        {
            return false;
        }

        parts[0] = ..first;
        parts[1] = (first + 1)..last;
        parts[2] = (last + 1)..token.Length;
        return true;
    }

    private static bool TryDecode(ReadOnlySpan<byte> part, ref Memory<byte> scratch, out ReadOnlyMemory<byte> decoded)
    {
        decoded = default;
        if (part.ContainsAnyExcept(Base64UrlBytes)
            || Base64Url.DecodeFromUtf8(part, scratch.Span, out _, out var written) != OperationStatus.Done)
        {
            return false;
        }

        decoded = scratch[..written];
        scratch = scratch[written..];
        return true;
    }
}
