using System.Security.Cryptography;
using System.Text.Json;

namespace Pnh.Channels.Fcm;

/// <summary>What PNH needs of a Google service account file.</summary>
/// <param name="ProjectId"><c>project_id</c>.</param>
/// <param name="ClientEmail"><c>client_email</c>: issuer of assertions.</param>
/// <param name="KeyId"><c>private_key_id</c>; null = the assertion names no key.</param>
/// <param name="TokenAddress"><c>token_uri</c>: where access tokens are to be had, and the assertion's audience.</param>
/// <param name="Key">The RSA key out of <c>private_key</c>.</param>
internal sealed record ServiceAccount(string ProjectId, string ClientEmail, string? KeyId, Uri TokenAddress, RSA Key)
{
    /// <summary>Reads the file's text; null with the problem in words when something is missing or wrong. Nothing of the file is repeated.</summary>
    public static ServiceAccount? Read(string json, out string? problem)
    {
        try
        {
            using var document = JsonDocument.Parse(json);
            var root = document.RootElement;
            problem = root.ValueKind != JsonValueKind.Object ? "not a JSON object"
                : Text(root, "project_id") is null ? "project_id is missing"
                : Text(root, "client_email") is null ? "client_email is missing"
                : Text(root, "private_key") is null ? "private_key is missing"
                : null;
            if (problem is not null)
            {
                return null;
            }

            if (!Uri.TryCreate(Text(root, "token_uri") ?? "https://oauth2.googleapis.com/token", UriKind.Absolute, out var tokenAddress)
                || tokenAddress.Scheme != Uri.UriSchemeHttps)
            {
                problem = "token_uri is not an https address";
                return null;
            }

            return ReadKey(Text(root, "private_key")!, out problem) is { } key
                ? new ServiceAccount(Text(root, "project_id")!, Text(root, "client_email")!, Text(root, "private_key_id"), tokenAddress, key)
                : null;
        }
        catch (JsonException)
        {
            problem = "not JSON (expected the service account file from Google)";
            return null;
        }
    }

    private static RSA? ReadKey(string pem, out string? problem)
    {
        var key = RSA.Create();
        try
        {
            key.ImportFromPem(pem);
            _ = key.SignData([0], HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
            problem = null;
            return key;
        }
        catch (Exception exception) when (exception is CryptographicException or ArgumentException)
        {
            key.Dispose();
            problem = "private_key is not a PEM RSA private key";
            return null;
        }
    }

    private static string? Text(JsonElement root, string name) =>
        root.TryGetProperty(name, out var value) && value.ValueKind == JsonValueKind.String && value.GetString() is { Length: > 0 } text
            ? text
            : null;
}
