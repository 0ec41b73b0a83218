using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text.Json;

namespace Pnh.Api.Access;

/// <summary>Reads public keys from a PEM file or a JWK set (RFC 7517). Refuses private keys: the hub has no business with them.</summary>
internal static class TokenKeyReader
{
    private const int RsaBits = 2048;

    /// <summary>One key from a PEM file with a public key or a certificate's public key. The problem says what to do.</summary>
    public static bool TryReadPem(string file, out IReadOnlyList<TokenKey> keys, [NotNullWhen(false)] out string? problem)
    {
        keys = [];
        if (!TryReadFile(file, out var pem, out problem))
        {
            return false;
        }

        if (pem.Contains("PRIVATE KEY", StringComparison.Ordinal))
        {
            problem = $"{file} holds a private key; give the public one (openssl pkey -pubout)";
            return false;
        }

        if (TryImport(static (string text) => { var rsa = RSA.Create(); rsa.ImportFromPem(text); return rsa; }, pem) is { } rsaKey)
        {
            return TryTake(null, rsaKey, out keys, out problem);
        }

        if (TryImport(static (string text) => { var ecdsa = ECDsa.Create(); ecdsa.ImportFromPem(text); return ecdsa; }, pem) is { } ecdsaKey)
        {
            return TryTake(null, ecdsaKey, out keys, out problem);
        }

        problem = $"{file} holds no public key in PEM form (-----BEGIN PUBLIC KEY-----, RSA or P-256)";
        return false;
    }

    /// <summary>All signing keys of a JWK set: the JSON itself, or the file that holds it.</summary>
    public static bool TryReadJwks(string jwks, string workingFolder, out IReadOnlyList<TokenKey> keys, [NotNullWhen(false)] out string? problem)
    {
        keys = [];
        problem = null;
        if (!jwks.AsSpan().TrimStart().StartsWith("{") && !TryReadFile(Path.GetFullPath(jwks, workingFolder), out jwks!, out problem))
        {
            return false;
        }

        var read = new List<TokenKey>();
        try
        {
            using var document = JsonDocument.Parse(jwks);
            foreach (var jwk in document.RootElement.GetProperty("keys").EnumerateArray())
            {
                // Issuers list their encryption keys in the same set (RFC 7517 section 4.2); those are not for us.
                if (Member(jwk, "use") is not (null or "sig"))
                {
                    continue;
                }

                if (!TryReadJwk(jwk, out var key, out problem))
                {
                    return false;
                }

                if (key is not null)
                {
                    read.Add(key);
                }
            }
        }
        catch (Exception exception) when (exception is JsonException or InvalidOperationException or KeyNotFoundException)
        {
            problem = "is not a JWK set: an object with the member keys, an array of keys (RFC 7517)";
            return false;
        }

        problem = read.Count == 0 ? "holds no key for signatures with RS256 or ES256"
            : read.Count > 1 && read.Any(static key => key.Id is null) ? "holds several keys, so each needs a kid"
            : read.DistinctBy(static key => key.Id).Count() != read.Count ? "holds two keys with the same kid"
            : null;
        keys = read;
        return problem is null;
    }

    /// <summary>True without a key: a public one of a kind that is not used here, which RFC 7517 section 5 says to ignore.</summary>
    private static bool TryReadJwk(JsonElement jwk, out TokenKey? key, [NotNullWhen(false)] out string? problem)
    {
        key = null;
        var id = Member(jwk, "kid");
        if (jwk.TryGetProperty("d", out _) || jwk.TryGetProperty("k", out _) || Member(jwk, "kty") == "oct")
        {
            problem = "holds a private or shared key; give public keys only";
            return false;
        }

        IReadOnlyList<TokenKey> keys;
        switch (Member(jwk, "kty"), Member(jwk, "alg"), Member(jwk, "crv"))
        {
            case ("RSA", null or "RS256", _) when Bytes(jwk, "n") is { } n && Bytes(jwk, "e") is { } e
                && TryImport(static p => RSA.Create(p), new RSAParameters { Modulus = n, Exponent = e }) is { } rsa:
                if (!TryTake(id, rsa, out keys, out problem))
                {
                    return false;
                }

                break;
            case ("EC", null or "ES256", "P-256") when Bytes(jwk, "x") is { } x && Bytes(jwk, "y") is { } y
                && TryImport(static p => ECDsa.Create(p), new ECParameters { Curve = ECCurve.NamedCurves.nistP256, Q = new() { X = x, Y = y } }) is { } ecdsa:
                if (!TryTake(id, ecdsa, out keys, out problem))
                {
                    return false;
                }

                break;
            case ({ } kty, var alg, var crv) when !IsOurs(kty, alg, crv):
                problem = null;
                return true;
            default:
                problem = "holds a key that is neither RSA for RS256 nor P-256 for ES256, or is damaged";
                return false;
        }

        key = keys[0];
        return true;
    }

    // A curve that is missing is damage, not another kind.
    private static bool IsOurs(string kty, string? alg, string? crv) =>
        (kty == "RSA" && alg is null or "RS256") || (kty == "EC" && crv is null or "P-256" && alg is null or "ES256");

    private static bool TryTake(string? id, RSA rsa, out IReadOnlyList<TokenKey> keys, [NotNullWhen(false)] out string? problem)
    {
        problem = rsa.KeySize >= RsaBits ? null : $"holds an RSA key of {rsa.KeySize} bits; {RsaBits} is the least (RFC 7518 section 3.3)";
        keys = [new(id, rsa)];
        return problem is null;
    }

    private static bool TryTake(string? id, ECDsa ecdsa, out IReadOnlyList<TokenKey> keys, [NotNullWhen(false)] out string? problem)
    {
        var curve = ecdsa.ExportParameters(includePrivateParameters: false).Curve;
        problem = curve.Oid.Value == ECCurve.NamedCurves.nistP256.Oid.Value ? null : "holds a key of another curve than P-256";
        keys = [new(id, ecdsa)];
        return problem is null;
    }

    private static bool TryReadFile(string file, [NotNullWhen(true)] out string? text, [NotNullWhen(false)] out string? problem)
    {
        try
        {
            (text, problem) = (File.ReadAllText(file), null);
            return true;
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
        {
            (text, problem) = (null, $"{file} cannot be read; check that it exists and that this user may read it");
            return false;
        }
    }

    private static TKey? TryImport<TKey, TSource>(Func<TSource, TKey> import, TSource source)
        where TKey : class
    {
        try
        {
            return import(source);
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            return null;
        }
    }

    private static string? Member(JsonElement jwk, string name) => jwk.TryGetProperty(name, out var value) ? value.GetString() : null;

    private static byte[]? Bytes(JsonElement jwk, string name)
    {
        try
        {
            return Member(jwk, name) is { Length: > 0 } text ? Base64Url.DecodeFromChars(text) : null;
        }
        catch (FormatException)
        {
            return null;
        }
    }
}
