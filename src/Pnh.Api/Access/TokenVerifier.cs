using System.Security.Cryptography;
using System.Text;

namespace Pnh.Api.Access;

/// <summary>How one app's client tokens are verified. Thread-safe.</summary>
internal sealed class TokenVerifier
{
    private readonly IReadOnlyList<TokenKey> _keys;

    /// <summary>As configured.</summary>
    public TokenVerifier(string app, TokenOptions options)
    {
        App = app;
        Audience = options.Audience ?? app;
        Secret = options.Hs256Secret is { } secret ? Encoding.UTF8.GetBytes(secret) : null;
        _keys = options.PublicKeys;
    }

    /// <summary>The app.</summary>
    public string App { get; }

    /// <summary>What <c>aud</c> must name.</summary>
    public string Audience { get; }

    /// <summary>The shared secret of HS256; null when public keys are used.</summary>
    public byte[]? Secret { get; }

    /// <summary>Null when the signature over <paramref name="signed"/> is the app's; otherwise why not.</summary>
    public string? Check(TokenHeader header, ReadOnlySpan<byte> signed, ReadOnlySpan<byte> signature)
    {
        if (Secret is not null)
        {
            return header.Algorithm != "HS256" ? "wrong-algorithm" : IsHs256(signed, signature) ? null : "bad-signature";
        }

        if (FindKey(header.KeyId) is not { } key)
        {
            return "unknown-key";
        }

        return header.Algorithm != key.Algorithm ? "wrong-algorithm" : key.Verify(signed, signature) ? null : "bad-signature";
    }

    private bool IsHs256(ReadOnlySpan<byte> signed, ReadOnlySpan<byte> signature)
    {
        Span<byte> expected = stackalloc byte[HMACSHA256.HashSizeInBytes];
        HMACSHA256.HashData(Secret!, signed, expected);
        return CryptographicOperations.FixedTimeEquals(expected, signature);
    }

    /// <summary>The key with the token's <c>kid</c>. A key without one, from a PEM file, serves every token: it is the only key.</summary>
    private TokenKey? FindKey(string? id)
    {
        foreach (var key in _keys)
        {
            if (key.Id is null || key.Id == id || (id is null && _keys.Count == 1))
            {
                return key;
            }
        }

        return null;
    }
}
