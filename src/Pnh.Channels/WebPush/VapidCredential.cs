using System.Buffers.Text;
using System.Collections.Concurrent;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using Pnh.Core.Timing;

namespace Pnh.Channels.WebPush;

/// <summary>
/// The <c>vapid</c> credential of one account (RFC 8292): an ES256 JWT per push service and our public key. Each is signed once and kept; one caller signs
/// (24 us) while the others wait for it. Thread-safe.
/// </summary>
internal sealed class VapidCredential : IDisposable
{
    /// <summary>RFC 8292 section 2 allows 24 h; half of it leaves room for a clock that is wrong by hours.</summary>
    public static readonly TimeSpan Lifetime = TimeSpan.FromHours(12);

    /// <summary>From here on a new one is made; up to an hour more, so that many processes do not renew together.</summary>
    public static readonly TimeSpan RenewalAge = TimeSpan.FromHours(6);

    /// <summary>Push services are a handful. Past this many somebody invents host names, and remembering starts anew.</summary>
    private const int MaxOrigins = 1024;

    private static readonly string Header = Encode("""{"typ":"JWT","alg":"ES256"}""");

    private readonly Lock _lock = new();
    private readonly ConcurrentDictionary<(string Host, int Port), Minted> _byOrigin = new();
    private readonly ECDsa _signer;
    private readonly string _subject;
    private readonly TimeProvider _time;
    private readonly TimeSpan _renewalAge;
    private readonly byte[] _macKey;

    /// <param name="signer">The P-256 key; belongs to the credential from here on.</param>
    /// <param name="subject">Whom the push service may write to: <c>mailto:</c> or <c>https:</c>.</param>
    /// <param name="time">For <c>exp</c> and for the age.</param>
    public VapidCredential(ECDsa signer, string subject, TimeProvider time)
    {
        _signer = signer;
        IsApples = VapidSubject.IsApples(subject);
        _subject = $"\"{JsonEncodedText.Encode(subject)}\"";
        _time = SteadyClock.WallOf(time);
        _renewalAge = RenewalAge + TimeSpan.FromSeconds(RandomNumberGenerator.GetInt32(3600));
        var key = signer.ExportParameters(includePrivateParameters: true);
        PublicKey = Base64Url.EncodeToString([4, .. key.Q.X!, .. key.Q.Y!]);
        _macKey = HKDF.DeriveKey(HashAlgorithmName.SHA256, key.D!, HMACSHA256.HashSizeInBytes, info: "pnh renewal keys of subscriptions"u8.ToArray());
    }

    /// <summary>The key's public half: 65 bytes, in base64url without padding.</summary>
    public string PublicKey { get; }

    /// <summary>Apple takes its subject.</summary>
    public bool IsApples { get; }

    /// <summary>The value of <c>authorization</c> for the endpoint's push service: the same string until it is renewed.</summary>
    public string For(Uri endpoint)
    {
        var origin = (endpoint.Host, endpoint.Port);
        return _byOrigin.TryGetValue(origin, out var known) && IsFresh(known) ? known.Authorization : Renew(origin, endpoint);
    }

    /// <summary>As <see cref="IWebPushKeys.FindMac"/> says.</summary>
    public byte[] Mac(ReadOnlySpan<byte> text) => HMACSHA256.HashData(_macKey, text);

    public void Dispose() => _signer.Dispose();

    private string Renew((string Host, int Port) origin, Uri endpoint)
    {
        lock (_lock)
        {
            if (_byOrigin.TryGetValue(origin, out var known) && IsFresh(known))
            {
                return known.Authorization;
            }

            if (_byOrigin.Count >= MaxOrigins)
            {
                _byOrigin.Clear();
            }

            var minted = Mint(endpoint);
            _byOrigin[origin] = minted;
            return minted.Authorization;
        }
    }

    /// <summary>By whichever clock says more, and not when the wall clock was set back by as much: <c>exp</c> would then be too far ahead.</summary>
    private bool IsFresh(Minted minted) =>
        (_time.GetUtcNow() - minted.IssuedAt).Duration() < _renewalAge && _time.GetElapsedTime(minted.Timestamp) < _renewalAge;

    private Minted Mint(Uri endpoint)
    {
        var now = _time.GetUtcNow();

        // RFC 6454: the port is part of the origin only when it is not the scheme's own.
        var audience = endpoint.IsDefaultPort ? $"https://{endpoint.Host}" : string.Create(CultureInfo.InvariantCulture, $"https://{endpoint.Host}:{endpoint.Port}");
        var expires = (now + Lifetime).ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);
        var unsigned = Header + "." + Encode($$"""{"aud":"{{audience}}","exp":{{expires}},"sub":{{_subject}}}""");
        var signature = _signer.SignData(
            Encoding.ASCII.GetBytes(unsigned), HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
        return new Minted($"vapid t={unsigned}.{Base64Url.EncodeToString(signature)}, k={PublicKey}", now, _time.GetTimestamp());
    }

    private static string Encode(string json) => Base64Url.EncodeToString(Encoding.UTF8.GetBytes(json));

    private sealed record Minted(string Authorization, DateTimeOffset IssuedAt, long Timestamp);
}
