using System.Buffers.Binary;
using System.Buffers.Text;
using System.Net;
using System.Security.Cryptography;
using System.Text;
using Pnh.Sandbox.WebPush;

namespace Pnh.Sandbox.Tests.WebPush;

/// <summary>Messages to one browser, correct unless a test makes them wrong; encrypted with the framework's HKDF.</summary>
internal sealed class BrowserCaller(SandboxUnderTest sandbox, string? name = null)
{
    public const string Payload = """{"id":"e-1","class":"message","title":"Grace","body":"Hello","tag":"chat-7"}""";

    private readonly Dictionary<string, string?> _headers = new()
    {
        ["TTL"] = "3600",
        ["Urgency"] = "high",
        ["Content-Encoding"] = "aes128gcm",
    };

    public string Name { get; } = name ?? "browser-" + RandomNumberGenerator.GetHexString(8, lowercase: true);

    public BrowserSubscription Subscription => sandbox.Server.Subscribe(Name);

    public static ECDsa KeyOf(SandboxUnderTest sandbox)
    {
        ECDsa key = ECDsa.Create();
        key.ImportFromPem(File.ReadAllText(sandbox.Server.Credentials.VapidKeyFile));
        return key;
    }

    public static string PointOf(ECDsa key)
    {
        ECPoint point = key.ExportParameters(includePrivateParameters: false).Q;
        return Base64Url.EncodeToString([4, .. point.X!, .. point.Y!]);
    }

    /// <summary>Sets a header; null leaves it out.</summary>
    public BrowserCaller With(string header, string? value)
    {
        _headers[header] = value;
        return this;
    }

    public string Claims(string? audience = null, long lifetime = 3600, string subject = "mailto:ops@example.com") =>
        $$"""{"aud":"{{audience ?? sandbox.Server.FcmAddress.GetLeftPart(UriPartial.Authority)}}","exp":{{sandbox.Now.ToUnixTimeSeconds() + lifetime}},"sub":"{{subject}}"}""";

    public string Vapid(string? claims = null, ECDsa? key = null, string header = """{"typ":"JWT","alg":"ES256"}""")
    {
        using ECDsa own = KeyOf(sandbox);
        return $"vapid t={Jwt.Es256(key ?? own, header, claims ?? Claims())}, k={PointOf(key ?? own)}";
    }

    /// <summary>One record by RFC 8291.</summary>
    public byte[] Encrypt(string text, uint recordSize = 4096, byte delimiter = 2)
    {
        BrowserSubscription to = Subscription;
        byte[] point = Base64Url.DecodeFromChars(to.P256dh);
        using ECDiffieHellman browser = ECDiffieHellman.Create(new ECParameters
        {
            Curve = ECCurve.NamedCurves.nistP256,
            Q = new ECPoint { X = point[1..33], Y = point[33..] },
        });
        using ECDiffieHellman pair = ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256);
        ECPoint q = pair.ExportParameters(includePrivateParameters: false).Q;
        byte[] ours = [4, .. q.X!, .. q.Y!];
        byte[] salt = RandomNumberGenerator.GetBytes(16);
        byte[] key = HKDF.DeriveKey(HashAlgorithmName.SHA256, pair.DeriveRawSecretAgreement(browser.PublicKey), 32,
            Base64Url.DecodeFromChars(to.Auth), [.. "WebPush: info\0"u8, .. point, .. ours]);
        byte[] head = [.. salt, 0, 0, 0, 0, (byte)ours.Length, .. ours];
        BinaryPrimitives.WriteUInt32BigEndian(head.AsSpan(16), recordSize);
        byte[] clear = [.. Encoding.UTF8.GetBytes(text), delimiter];
        byte[] record = new byte[clear.Length + 16];
        using AesGcm cipher = new(HKDF.DeriveKey(HashAlgorithmName.SHA256, key, 16, salt, "Content-Encoding: aes128gcm\0"u8.ToArray()), 16);
        cipher.Encrypt(HKDF.DeriveKey(HashAlgorithmName.SHA256, key, 12, salt, "Content-Encoding: nonce\0"u8.ToArray()), clear,
            record.AsSpan(0, clear.Length), record.AsSpan(clear.Length));
        return [.. head, .. record];
    }

    public Task<Answer> SendAsync(string text = Payload) => SendAsync(Encrypt(text));

    public async Task<Answer> SendAsync(byte[] body, HttpMethod? method = null, Uri? endpoint = null, Version? version = null)
    {
        HttpRequestMessage request = new(method ?? HttpMethod.Post, endpoint ?? Subscription.Endpoint) { Content = new ByteArrayContent(body) };
        Dictionary<string, string?> headers = new(_headers);
        headers.TryAdd("Authorization", Vapid());
        foreach ((string header, string? value) in headers)
        {
            if (value is not null && !request.Headers.TryAddWithoutValidation(header, value))
            {
                request.Content.Headers.TryAddWithoutValidation(header, value);
            }
        }

        return await sandbox.SendAsync(request, version: version ?? HttpVersion.Version20);
    }
}
