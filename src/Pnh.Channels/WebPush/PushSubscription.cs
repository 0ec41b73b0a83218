using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;

namespace Pnh.Channels.WebPush;

/// <summary>
/// A browser's subscription (W3C Push API: PushSubscription). Kept as one text, <c>endpoint p256dh auth</c> with blanks between, which none of them can hold. The endpoint alone says which browser it is
/// (RFC 8030 section 2: it is the push resource), so it has one spelling, and so have the keys. Immutable. Says nothing of itself, since the endpoint is enough to write to the browser.
/// </summary>
internal sealed class PushSubscription
{
    /// <summary>An uncompressed point of P-256: 4, x, y.</summary>
    public const int PublicKeyBytes = 65;

    /// <summary>RFC 8291 section 3.2.</summary>
    public const int SecretBytes = 16;

    // How a person or a library may have broken a key over lines.
    private const int MaxBlanks = 2;

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
        return Read(endpoint, p256dh, auth);
    }

    /// <summary>Of the three texts as a browser or a library wrote them; null when they are no subscription.</summary>
    public static PushSubscription? Read(string endpoint, string p256dh, string auth) =>
        PushEndpoint.Parse(endpoint) is { } address && Decode(p256dh, PublicKeyBytes) is { } key && Decode(auth, SecretBytes) is { } secret
            ? new PushSubscription(address, key, secret)
            : null;

    /// <summary>The endpoint of a joined text; null when there is none.</summary>
    public static Uri? EndpointOf(string value) => PushEndpoint.Parse(Split(value).Endpoint);

    /// <summary>True for base64, of either alphabet, of a point that lies on the curve: a secret agreed with any other could be guessed.</summary>
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

    /// <summary>As one text: base64url without padding, the endpoint as it was parsed.</summary>
    public string Join() => $"{Endpoint.AbsoluteUri} {Base64Url.EncodeToString(PublicKey)} {Base64Url.EncodeToString(Secret)}";

    private static byte[]? Decode(string text, int bytes)
    {
        // Four characters carry three bytes; some libraries leave the padding on, some write the other alphabet.
        if (text.Length > ((bytes + 2) / 3 * 4) + MaxBlanks)
        {
            return null;
        }

        // Not TryDecodeFromChars, which throws on a character that base64url does not have.
        var decoded = new byte[bytes];
        return Base64Url.DecodeFromChars(text.Replace('+', '-').Replace('/', '_'), decoded, out _, out var written) == OperationStatus.Done && written == bytes ? decoded : null;
    }
}
