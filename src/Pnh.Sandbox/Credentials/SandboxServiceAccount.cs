using System.Buffers;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Pnh.Sandbox.Credentials;

/// <summary>What Google knows of a service account; its file has the shape of those that the Google Cloud console hands out.</summary>
internal sealed record SandboxServiceAccount(string ProjectId, string KeyId, string ClientEmail, RSA PublicKey, string Path, string Pem)
{
    private const int KeyBits = 2048;

    /// <summary>Where assertions are sent, and their <c>aud</c>. Known once the port is.</summary>
    public string TokenUri { get; private set; } = "";

    // The PEM is a private key: a record's own ToString would print it.
    public override string ToString() => ClientEmail;

    public static SandboxServiceAccount LoadOrCreate(string folder)
    {
        string path = System.IO.Path.Combine(folder, SandboxCredentials.ServiceAccountFileName);
        string? text = PrivateFile.Read(path);
        return text is null ? Create(path) : Parse(path, text);
    }

    /// <summary>Sets the token address, and rewrites the file when the address is another than the file's.</summary>
    public void MoveTo(string tokenUri)
    {
        if (TokenUri != tokenUri)
        {
            TokenUri = tokenUri;
            PrivateFile.Write(Path, ToJson());
        }
    }

    public bool Verify(ReadOnlySpan<byte> data, ReadOnlySpan<byte> signature)
    {
        lock (PublicKey)
        {
            return PublicKey.VerifyData(data, signature, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        }
    }

    private static SandboxServiceAccount Create(string path)
    {
        using RSA key = RSA.Create(KeyBits);
        string project = "pnh-sandbox-" + RandomNumberGenerator.GetString("0123456789abcdef", 5);
        string keyId = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(20));
        return new SandboxServiceAccount(project, keyId, $"firebase-adminsdk@{project}.iam.gserviceaccount.com",
            PublicHalf(key), path, key.ExportPkcs8PrivateKeyPem() + "\n");
    }

    private static SandboxServiceAccount Parse(string path, string text)
    {
        try
        {
            using JsonDocument json = JsonDocument.Parse(text);
            string Field(string name) => json.RootElement.GetProperty(name).GetString() is { Length: > 0 } value
                ? value
                : throw new FormatException($"{name} is empty.");

            using RSA key = RSA.Create();
            string pem = Field("private_key");
            key.ImportFromPem(pem);
            return Field("type") == "service_account"
                ? new SandboxServiceAccount(Field("project_id"), Field("private_key_id"), Field("client_email"), PublicHalf(key), path, pem)
                {
                    TokenUri = Field("token_uri"),
                }
                : throw new FormatException("type must be service_account.");
        }
        catch (Exception e) when (e is JsonException or KeyNotFoundException or InvalidOperationException or FormatException
            or CryptographicException or ArgumentException)
        {
            throw PrivateFile.Damaged(path, e);
        }
    }

    private string ToJson()
    {
        ArrayBufferWriter<byte> buffer = new();
        JsonWriterOptions options = new() { Indented = true, Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
        using (Utf8JsonWriter json = new(buffer, options))
        {
            json.WriteStartObject();
            json.WriteString("type", "service_account");
            json.WriteString("project_id", ProjectId);
            json.WriteString("private_key_id", KeyId);
            json.WriteString("private_key", Pem);
            json.WriteString("client_email", ClientEmail);
            json.WriteString("client_id", "100000000000000000000");
            json.WriteString("auth_uri", new Uri(new Uri(TokenUri), "/auth").AbsoluteUri);
            json.WriteString("token_uri", TokenUri);
            json.WriteString("universe_domain", "googleapis.com");
            json.WriteEndObject();
        }

        return Encoding.UTF8.GetString(buffer.WrittenSpan) + "\n";
    }

    private static RSA PublicHalf(RSA key) => RSA.Create(key.ExportParameters(includePrivateParameters: false));
}
