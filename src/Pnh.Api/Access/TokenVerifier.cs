using System.Security.Cryptography;
using System.Text;

namespace Pnh.Api.Access;

/// <summary>How one app's client tokens are verified. Thread-safe.</summary>
internal sealed class TokenVerifier
{
    private Keys _keys;

    /// <summary>As configured.</summary>
    public TokenVerifier(string app, TokenOptions options)
    {
        App = app;
        Audience = options.Audience ?? app;
        _keys = Keys.Of(options);
    }

    /// <summary>The app.</summary>
    public string App { get; }

    /// <summary>What <c>aud</c> must name.</summary>
    public string Audience { get; }

    /// <summary>The shared secret of HS256 that makes tokens; null when public keys are used.</summary>
    public byte[]? Secret => Volatile.Read(ref _keys).Secrets is [var first, ..] ? first : null;

    /// <summary>Takes these keys from now on; false = they are those of before. The audience stays.</summary>
    public bool Replace(TokenOptions options)
    {
        if (options.HasSameKeys(Volatile.Read(ref _keys).Options))
        {
            return false;
        }

        Volatile.Write(ref _keys, Keys.Of(options));
        return true;
    }

    /// <summary>Null when the signature over <paramref name="signed"/> is the app's; otherwise why not.</summary>
    public string? Check(TokenHeader header, ReadOnlySpan<byte> signed, ReadOnlySpan<byte> signature)
    {
        var keys = Volatile.Read(ref _keys);
        if (keys.Secrets.Length > 0)
        {
            return header.Algorithm != "HS256" ? "wrong-algorithm" : IsHs256(keys.Secrets, signed, signature) ? null : "bad-signature";
        }

        if (FindKey(keys.Options.PublicKeys, header.KeyId) is not { } key)
        {
            return "unknown-key";
        }

        return header.Algorithm != key.Algorithm ? "wrong-algorithm" : key.Verify(signed, signature) ? null : "bad-signature";
    }

    private static bool IsHs256(byte[][] secrets, ReadOnlySpan<byte> signed, ReadOnlySpan<byte> signature)
    {
        Span<byte> expected = stackalloc byte[HMACSHA256.HashSizeInBytes];
        foreach (var secret in secrets)
        {
            HMACSHA256.HashData(secret, signed, expected);
            if (CryptographicOperations.FixedTimeEquals(expected, signature))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The key with the token's <c>kid</c>. A key without one, from a PEM file, serves every token: it is the only key.</summary>
    private static TokenKey? FindKey(IReadOnlyList<TokenKey> keys, string? id)
    {
        foreach (var key in keys)
        {
            if (key.Id is null || key.Id == id || (id is null && keys.Count == 1))
            {
                return key;
            }
        }

        return null;
    }

    /// <summary>What a token is checked with, swapped as one.</summary>
    private sealed record Keys(TokenOptions Options, byte[][] Secrets)
    {
        public static Keys Of(TokenOptions options) => new(options, [.. options.Hs256Secrets.Select(Encoding.UTF8.GetBytes)]);
    }
}
