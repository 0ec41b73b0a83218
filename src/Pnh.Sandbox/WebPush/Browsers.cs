using System.Buffers.Text;
using System.Globalization;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;

namespace Pnh.Sandbox.WebPush;

/// <summary>
/// Every browser there could be: keys and endpoint follow from the sandbox's secret and the browser's name, so nothing is registered, subscriptions outlive a
/// restart, and an endpoint that was made up is known for it. Thread-safe.
/// </summary>
internal sealed class Browsers
{
    /// <summary>What <see cref="IsName"/> wants, in words.</summary>
    public const string NameRule = "a browser's name is 1 to 64 letters, digits, '-', '_' or '.'";

    /// <summary>The browser that is a Safari unless asked for otherwise.</summary>
    public const string Safari = "safari";

    private const int MaxNameCharacters = 64;
    private const int MacBytes = 12;

    // FIPS 186-5 section A.2.1: eight bytes more than the order, so that the remainder has no bias worth the name.
    private const int ScalarSeedBytes = 40;
    private const int ScalarBytes = 32;

    // SEC 2 section 2.4.2.
    private static readonly BigInteger Order =
        BigInteger.Parse("0FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551", NumberStyles.HexNumber, CultureInfo.InvariantCulture);

    private readonly byte[] _secret;

    /// <param name="secret">What everything follows from.</param>
    /// <param name="port">The FCM port, as far as it is known.</param>
    public Browsers(byte[] secret, int port)
    {
        _secret = secret;
        Origin = new Uri($"https://localhost:{port}");
    }

    /// <summary>Where endpoints are.</summary>
    public Uri Origin { get; private set; }

    public static bool IsName(string name) =>
        name.Length is > 0 and <= MaxNameCharacters && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '-' or '_' or '.');

    /// <summary>Sets where the endpoints are, once the port is known.</summary>
    public void MoveTo(Uri origin) => Origin = origin;

    public BrowserSubscription Subscribe(string name)
    {
        Browser browser = Get(name);
        return new BrowserSubscription(new Uri(Origin, WebPushStandIn.Prefix + IdOf(name)), browser.P256dh, browser.Auth);
    }

    /// <summary>The same with an endpoint of Windows' push service.</summary>
    public BrowserSubscription SubscribeToWindows(string name) =>
        Subscribe(name) with { Endpoint = new Uri(Origin, $"{WebPushStandIn.WindowsPath}?token={Uri.EscapeDataString(IdOf(name))}") };

    /// <summary>The same with an endpoint of Apple's push service: the browser is a Safari.</summary>
    public BrowserSubscription SubscribeToApple(string name) =>
        Subscribe(name) with { Endpoint = new Uri(Origin, WebPushStandIn.ApplePrefix + IdOf(name)) };

    /// <summary>Whose endpoint ends with this id; null when nobody's does.</summary>
    public string? NameOf(string id) =>
        id.IndexOf(':', StringComparison.Ordinal) is > 0 and int end && id[..end] is var name && IsName(name) && IdOf(name) == id ? name : null;

    public Browser Get(string name) => new(Scalar(Derive("key", name, ScalarSeedBytes)), Derive("auth", name, Browser.SecretBytes));

    private string IdOf(string name) => $"{name}:{Base64Url.EncodeToString(Derive("endpoint", name, MacBytes))}";

    // RFC 5869; a name has no zero byte, so no two of these are one.
    private byte[] Derive(string purpose, string name, int bytes) =>
        HKDF.DeriveKey(HashAlgorithmName.SHA256, _secret, bytes, info: Encoding.ASCII.GetBytes($"pnh-sandbox browser\0{purpose}\0{name}"));

    private static byte[] Scalar(byte[] seed)
    {
        BigInteger scalar = (new BigInteger(seed, isUnsigned: true, isBigEndian: true) % (Order - 1)) + 1;
        byte[] bytes = new byte[ScalarBytes];
        byte[] digits = scalar.ToByteArray(isUnsigned: true, isBigEndian: true);
        digits.CopyTo(bytes, ScalarBytes - digits.Length);
        return bytes;
    }
}
