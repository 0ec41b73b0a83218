using System.Security.Cryptography;

namespace Pnh.Api.Access;

/// <summary>
/// A public key that checks client tokens, with its one algorithm: RS256 for RSA, ES256 for P-256 (RFC 7518 sections 3.3 and 3.4). The
/// algorithm belongs to the key, never to the token. Thread-safe; lives as long as the process.
/// </summary>
internal sealed class TokenKey
{
    private readonly RSA? _rsa;
    private readonly ECDsa? _ecdsa;

    /// <summary>An RSA key of at least 2048 bits.</summary>
    public TokenKey(string? id, RSA rsa)
    {
        Id = id;
        _rsa = rsa;
    }

    /// <summary>A P-256 key.</summary>
    public TokenKey(string? id, ECDsa ecdsa)
    {
        Id = id;
        _ecdsa = ecdsa;
    }

    /// <summary>The key's <c>kid</c>; null = it has none and is the only one.</summary>
    public string? Id { get; }

    /// <summary>Two keys with the same one take the same tokens: the <c>kid</c> and a hash of the key.</summary>
    public string Mark => $"{Id} {Convert.ToHexString(SHA256.HashData(_rsa?.ExportSubjectPublicKeyInfo() ?? _ecdsa!.ExportSubjectPublicKeyInfo()))}";

    /// <summary>What the token's <c>alg</c> must say.</summary>
    public string Algorithm => _rsa is null ? "ES256" : "RS256";

    /// <summary>True when the signature over the data is this key's.</summary>
    public bool Verify(ReadOnlySpan<byte> data, ReadOnlySpan<byte> signature) => _rsa is not null
        ? _rsa.VerifyData(data, signature, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1)
        : _ecdsa!.VerifyData(data, signature, HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
}
