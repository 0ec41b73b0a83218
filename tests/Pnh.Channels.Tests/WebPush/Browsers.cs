using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Pnh.Core.Users;
using Pnh.Sandbox.WebPush;

namespace Pnh.Channels.Tests.WebPush;

/// <summary>The sandbox's browser, which shares no line with the channel, for the channel's tests.</summary>
internal static class Browsers
{
    /// <summary>A browser with keys of its own.</summary>
    public static Browser Create()
    {
        using var pair = ECDiffieHellman.Create(ECCurve.NamedCurves.nistP256);
        return new Browser(pair.ExportParameters(includePrivateParameters: true).D!, RandomNumberGenerator.GetBytes(Browser.SecretBytes));
    }

    public static byte[] Bytes(string base64Url) => Base64Url.DecodeFromChars(base64Url);

    /// <summary>The pair of a private scalar and its public point, both base64url.</summary>
    public static ECDiffieHellman Pair(string scalar, string point) => ECDiffieHellman.Create(new ECParameters
    {
        Curve = ECCurve.NamedCurves.nistP256,
        D = Bytes(scalar),
        Q = new ECPoint { X = Bytes(point)[1..33], Y = Bytes(point)[33..] },
    });

    public static PushAddress Subscribe(this Browser browser, string endpoint) =>
        new("webpush", "subscription", $"{endpoint} {browser.P256dh} {browser.Auth}", "", default);

    /// <summary>What the service worker gets; a message that cannot be read fails the test.</summary>
    public static string ReadText(this Browser browser, byte[] body)
    {
        var plain = browser.Read(body, out var error);
        Assert.True(plain is not null, error);
        return Encoding.UTF8.GetString(plain);
    }
}
