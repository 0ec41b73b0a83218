using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

namespace Pnh.Channels.Fcm;

/// <summary>The RS256 assertion that a service account exchanges for an access token (RFC 7523; Google: OAuth 2.0 for server to server). Pure.</summary>
internal static class FcmAssertion
{
    public const string Scope = "https://www.googleapis.com/auth/firebase.messaging";

    /// <summary>Google refuses a longer life.</summary>
    private const int LifetimeSeconds = 3600;

    public static string Create(ServiceAccount account, DateTimeOffset now)
    {
        var issued = now.ToUnixTimeSeconds();
        var header = account.KeyId is null
            ? """{"alg":"RS256","typ":"JWT"}"""
            : $$"""{"alg":"RS256","typ":"JWT","kid":{{Quote(account.KeyId)}}}""";
        var claims = string.Create(
            CultureInfo.InvariantCulture,
            $$"""{"iss":{{Quote(account.ClientEmail)}},"scope":"{{Scope}}","aud":{{Quote(account.TokenAddress.OriginalString)}},"iat":{{issued}},"exp":{{issued + LifetimeSeconds}}}""");
        var unsigned = $"{Encode(header)}.{Encode(claims)}";
        var signature = account.Key.SignData(Encoding.ASCII.GetBytes(unsigned), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return $"{unsigned}.{Base64Url.EncodeToString(signature)}";
    }

    private static string Quote(string text) => $"\"{JsonEncodedText.Encode(text)}\"";

    private static string Encode(string json) => Base64Url.EncodeToString(Encoding.UTF8.GetBytes(json));
}
