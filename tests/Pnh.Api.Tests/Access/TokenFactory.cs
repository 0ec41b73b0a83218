using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Api.Tests.Access;

/// <summary>Makes tokens from any header and payload text, well-formed or not, with the framework's own cryptography.</summary>
internal static class TokenFactory
{
    public const string Secret = "a-shared-secret-of-at-least-32-bytes!";

    public static string Hs256(string payload, string header = """{"alg":"HS256","typ":"JWT"}""", string secret = Secret) =>
        Sign(header, payload, signed => HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), signed));

    public static string Rs256(RSA key, string payload, string header = """{"alg":"RS256"}""") =>
        Sign(header, payload, signed => key.SignData(signed, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1));

    public static string Es256(ECDsa key, string payload, string header = """{"alg":"ES256"}""") =>
        Sign(header, payload, signed => key.SignData(signed, HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation));

    public static string Sign(string header, string payload, Func<byte[], byte[]> sign)
    {
        var signed = $"{Base64Url.EncodeToString(Encoding.UTF8.GetBytes(header))}.{Base64Url.EncodeToString(Encoding.UTF8.GetBytes(payload))}";
        return $"{signed}.{Base64Url.EncodeToString(sign(Encoding.ASCII.GetBytes(signed)))}";
    }
}
