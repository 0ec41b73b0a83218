using System.Buffers.Text;
using System.Security.Cryptography;

namespace Pnh.Sandbox.Credentials;

/// <summary>
/// What Web Push needs: <c>vapid.pem</c>, the key of the application server, and <c>browsers.secret</c>, from which every browser's keys follow.
/// </summary>
/// <param name="ApplicationServerKey">The public half of the former, an uncompressed point: what the page would subscribe with.</param>
/// <param name="Secret">The latter.</param>
internal sealed record BrowserKeys(byte[] ApplicationServerKey, byte[] Secret)
{
    public const string VapidFileName = "vapid.pem";
    private const string SecretFileName = "browsers.secret";
    private const int SecretBytes = 32;

    public static BrowserKeys LoadOrCreate(string folder)
    {
        string path = Path.Combine(folder, VapidFileName);
        using ECDsa key = PrivateFile.Read(path) is { } pem ? P256KeyFile.Parse(path, pem) : P256KeyFile.Create(path);
        ECPoint point = key.ExportParameters(includePrivateParameters: false).Q;
        return new BrowserKeys([4, .. point.X!, .. point.Y!], ReadOrCreate(Path.Combine(folder, SecretFileName)));
    }

    private static byte[] ReadOrCreate(string path)
    {
        if (PrivateFile.Read(path) is not { } text)
        {
            byte[] secret = RandomNumberGenerator.GetBytes(SecretBytes);
            PrivateFile.Write(path, Base64Url.EncodeToString(secret) + "\n");
            return secret;
        }

        return CompactJws.Decode(text.Trim()) is { Length: SecretBytes } kept
            ? kept
            : throw PrivateFile.Damaged(path, new FormatException("Base64url of 32 bytes expected."));
    }
}
