using System.Security.Cryptography;
using System.Text.RegularExpressions;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.WebPush;

/// <summary>An application server's credential that was found good: <c>vapid t=…, k=…</c> (RFC 8292). Whether it is the right one, its reader decides.</summary>
/// <param name="Audience">The origin it was made for.</param>
/// <param name="Subject">Whom the push service may write to.</param>
/// <param name="Key">The public key: an uncompressed point of P-256.</param>
internal sealed partial record VapidToken(string Audience, string Subject, byte[] Key)
{
    private const string Scheme = "vapid ";

    // Section 2.
    private static readonly TimeSpan LongestLife = TimeSpan.FromHours(24);

    /// <summary>Apple wants a contact that it can reach: no blank, and a dotted name behind the <c>@</c> or <c>https://</c> that is not reserved.</summary>
    public bool IsForApple => AppleContact().IsMatch(Subject);

    /// <summary>The credential; null and what is wrong.</summary>
    public static VapidToken? Read(string authorization, DateTimeOffset now, out string error)
    {
        if (Parameters(authorization) is not (string token, string key))
        {
            error = "The authorization header must be: vapid t=TOKEN, k=KEY.";
            return null;
        }

        if (Point(key) is not { } point)
        {
            error = "k must be base64url of an uncompressed point of P-256.";
            return null;
        }

        if (CompactJws.Parse(token) is not { } jws || CompactJws.Text(jws.Header, "alg") != "ES256" || !Verifies(jws, point))
        {
            error = "invalid JWT provided: t must be a JWT signed with ES256 by the key k.";
            return null;
        }

        string audience = CompactJws.Text(jws.Claims, "aud") ?? "";
        string subject = CompactJws.Text(jws.Claims, "sub") ?? "";
        error = Wrong(CompactJws.Seconds(jws.Claims, "exp"), audience, subject, now) ?? "";
        return error.Length == 0 ? new VapidToken(audience, subject, point) : null;
    }

    private static string? Wrong(long? expires, string audience, string subject, DateTimeOffset now)
    {
        // RFC 7519 section 4.1.4: on or after exp it must not be accepted.
        if (expires is not { } exp || exp <= now.ToUnixTimeSeconds() || exp > (now + LongestLife).ToUnixTimeSeconds())
        {
            return "exp must be ahead, by 24 hours at most.";
        }

        return audience.Length == 0 ? "aud is missing." : IsContact(subject) ? null : "sub must be a mailto: or https: address.";
    }

    [GeneratedRegex(@"^(mailto:[^\s@,?]+@|https://)([a-z0-9-]+\.)+(?!(localhost|local|internal|invalid)\b)[a-z][a-z0-9-]*(:\d+)?(/\S*)?$", RegexOptions.IgnoreCase | RegexOptions.CultureInvariant)]
    private static partial Regex AppleContact();

    private static bool IsContact(string subject) =>
        Uri.TryCreate(subject, UriKind.Absolute, out Uri? contact) && (contact.Scheme == Uri.UriSchemeMailto || contact.Scheme == Uri.UriSchemeHttps);

    // RFC 9110 section 11.4: parameters in any order, each once, white space around the comma as one likes.
    private static (string Token, string Key)? Parameters(string authorization)
    {
        if (!authorization.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase))
        {
            return null;
        }

        string[] parts = authorization[Scheme.Length..].Split(',', StringSplitOptions.TrimEntries);
        string? token = ValueOf(parts, "t=");
        string? key = ValueOf(parts, "k=");
        return parts.Length == 2 && token is not null && key is not null ? (token, key) : null;
    }

    private static string? ValueOf(string[] parts, string start) =>
        Array.Find(parts, part => part.StartsWith(start, StringComparison.Ordinal))?[start.Length..];

    private static byte[]? Point(string key) => CompactJws.Decode(key) is { Length: Browser.PointBytes } and [4, ..] point ? point : null;

    private static bool Verifies(CompactJws jws, byte[] point)
    {
        try
        {
            using ECDsa key = ECDsa.Create(new ECParameters
            {
                Curve = ECCurve.NamedCurves.nistP256,
                Q = new ECPoint { X = point[1..33], Y = point[33..] },
            });
            return key.VerifyData(jws.Signed, jws.Signature, HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
        }
        catch (CryptographicException)
        {
            // A point off the curve.
            return false;
        }
    }
}
