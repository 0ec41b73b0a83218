using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;

namespace Pnh.Channels.WebPush;

/// <summary>
/// A browser's subscription (W3C Push API: PushSubscription). Kept as one text, <c>endpoint p256dh auth</c> with blanks between: the three belong together, and
/// none of them can hold a blank. Immutable. Says nothing of itself, since the endpoint alone is enough to write to the browser.
/// </summary>
internal sealed class PushSubscription
{
    /// <summary>An uncompressed point of P-256: 4, x, y.</summary>
    public const int PublicKeyBytes = 65;

    /// <summary>RFC 8291 section 3.2.</summary>
    public const int SecretBytes = 16;

    /// <summary>Windows' are the longest, at some 700 characters.</summary>
    private const int MaxEndpointCharacters = 2048;

    // RFC 3986: what may stand in an address, without the fragment's mark.
    private static readonly SearchValues<char> Characters =
        SearchValues.Create("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?[]@!$&'()*+,;=%");

    private PushSubscription(Uri endpoint, byte[] publicKey, byte[] secret)
    {
        Endpoint = endpoint;
        PublicKey = publicKey;
        Secret = secret;
    }

    /// <summary>Where to post.</summary>
    public Uri Endpoint { get; }

    /// <summary>The browser's public key, <see cref="PublicKeyBytes"/> long.</summary>
    public byte[] PublicKey { get; }

    /// <summary>The authentication secret, <see cref="SecretBytes"/> long.</summary>
    public byte[] Secret { get; }

    /// <summary>As one text.</summary>
    public static string Join(string endpoint, string p256dh, string auth) => $"{endpoint} {p256dh} {auth}";

    /// <summary>The three texts again; empty ones when it never was a subscription.</summary>
    public static (string Endpoint, string P256dh, string Auth) Split(string value)
    {
        var parts = value.Split(' ');
        return parts.Length == 3 ? (parts[0], parts[1], parts[2]) : ("", "", "");
    }

    /// <summary>The whole; null when the text is no subscription.</summary>
    public static PushSubscription? Parse(string value)
    {
        var (endpoint, p256dh, auth) = Split(value);
        return ParseEndpoint(endpoint) is { } address && Decode(p256dh, PublicKeyBytes) is { } key && Decode(auth, SecretBytes) is { } secret
            ? new PushSubscription(address, key, secret)
            : null;
    }

    /// <summary>The endpoint of a joined text; null when there is none.</summary>
    public static Uri? EndpointOf(string value) => ParseEndpoint(Split(value).Endpoint);

    /// <summary>An https address in ASCII, without user, password or fragment; null for anything else. Where it leads is judged when it is dialled.</summary>
    public static Uri? ParseEndpoint(string text) =>
        text.Length <= MaxEndpointCharacters
        && !text.AsSpan().ContainsAnyExcept(Characters)
        && Uri.TryCreate(text, UriKind.Absolute, out var endpoint)
        && endpoint.Scheme == Uri.UriSchemeHttps && endpoint.UserInfo.Length == 0 && endpoint.Host.Length > 0
            ? endpoint
            : null;

    /// <summary>True for base64url of a point that lies on the curve: a secret agreed with any other could be guessed.</summary>
    public static bool IsPublicKey(string text)
    {
        if (Decode(text, PublicKeyBytes) is not { } point || point[0] != 4)
        {
            return false;
        }

        try
        {
            using var key = ImportPublicKey(point);
            return true;
        }
        catch (CryptographicException)
        {
            return false;
        }
    }

    public static bool IsSecret(string text) => Decode(text, SecretBytes) is not null;

    /// <summary>Throws <see cref="CryptographicException"/> for a point off the curve.</summary>
    public static ECDiffieHellman ImportPublicKey(ReadOnlySpan<byte> point) => ECDiffieHellman.Create(new ECParameters
    {
        Curve = ECCurve.NamedCurves.nistP256,
        Q = new ECPoint { X = point[1..33].ToArray(), Y = point[33..].ToArray() },
    });

    private static byte[]? Decode(string text, int bytes)
    {
        // Four characters carry three bytes; some libraries leave the padding on.
        if (text.Length > (bytes + 2) / 3 * 4)
        {
            return null;
        }

        // Not TryDecodeFromChars, which throws on a character that base64url does not have.
        var decoded = new byte[bytes];
        return Base64Url.DecodeFromChars(text, decoded, out _, out var written) == OperationStatus.Done && written == bytes ? decoded : null;
    }
}
