using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Sandbox.Tests;

/// <summary>Tokens minted from the framework's crypto alone.</summary>
internal static class Jwt
{
    public static string Es256(ECDsa key, string keyId, string teamId, DateTimeOffset issuedAt, string alg = "ES256") =>
        Es256(key, $$"""{"alg":"{{alg}}","kid":"{{keyId}}"}""", $$"""{"iss":"{{teamId}}","iat":{{issuedAt.ToUnixTimeSeconds()}}}""");

    public static string Es256(ECDsa key, string header, string claims,
        DSASignatureFormat format = DSASignatureFormat.IeeeP1363FixedFieldConcatenation)
    {
        string signed = $"{Encode(header)}.{Encode(claims)}";
        return $"{signed}.{Base64Url.EncodeToString(key.SignData(Encoding.ASCII.GetBytes(signed), HashAlgorithmName.SHA256, format))}";
    }

    public static string Rs256(RSA key, string header, string claims)
    {
        string signed = $"{Encode(header)}.{Encode(claims)}";
        byte[] signature = key.SignData(Encoding.ASCII.GetBytes(signed), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return $"{signed}.{Base64Url.EncodeToString(signature)}";
    }

    public static string Encode(string text) => Base64Url.EncodeToString(Encoding.UTF8.GetBytes(text));
}
