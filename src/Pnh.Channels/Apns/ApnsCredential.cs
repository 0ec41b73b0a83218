using System.Buffers.Text;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Provider.Credentials;
using Pnh.Core.Timing;

namespace Pnh.Channels.Apns;

/// <summary>
/// The ES256 provider token of one (team, key): header <c>alg, kid</c>, claims <c>iss, iat</c> (Apple: Establishing a token-based
/// connection to APNs). Apple refuses a token older than an hour, and more than one new token in 20 minutes. Thread-safe: one caller
/// signs (24 us), the others wait for it.
/// </summary>
internal sealed partial class ApnsCredential : ApnsIdentity
{
    /// <summary>Apple answers TooManyProviderTokenUpdates to anything quicker.</summary>
    public static readonly TimeSpan LeastAge = TimeSpan.FromMinutes(20);

    /// <summary>From here on a new one is made; up to 5 minutes more, so that many processes do not renew together.</summary>
    public static readonly TimeSpan RenewalAge = TimeSpan.FromMinutes(50);

    /// <summary>Apple refuses an older one.</summary>
    private static readonly TimeSpan Longest = TimeSpan.FromHours(1);

    /// <summary>More than clocks are corrected by in passing, and less than what Apple lets an <c>iat</c> be ahead.</summary>
    private static readonly TimeSpan StepBack = TimeSpan.FromMinutes(1);

    private static readonly TimeSpan RenewalSpread = TimeSpan.FromMinutes(5);

    private readonly Lock _lock = new();
    private readonly CredentialSuccession<Key> _keys;
    private readonly TimeProvider _time;
    private readonly ILogger _log;
    private readonly TimeSpan _renewalAge;
    private Minted? _current;

    public ApnsCredential(string team, string key, ECDsa signer, TimeProvider time, ILogger? log = null)
        : base(time)
    {
        _keys = new CredentialSuccession<Key>(new Key(team, key, signer), time);
        _time = SteadyClock.WallOf(time);
        _log = log ?? NullLogger.Instance;
        _renewalAge = RenewalAge + TimeSpan.FromSeconds(RandomNumberGenerator.GetInt32((int)RenewalSpread.TotalSeconds));
    }

    public override string Authorization
    {
        get
        {
            var current = Volatile.Read(ref _current);
            return current is not null && Age(current) < _renewalAge ? current.Authorization : Renew();
        }
    }

    /// <summary>
    /// For a token that APNs called expired: the one to try instead, or null when the refused one is the newest and too young to be
    /// replaced (then this host's clock is wrong).
    /// </summary>
    public override string? Replace(string refused)
    {
        lock (_lock)
        {
            if (_current is { } current && string.Equals(current.Authorization, refused, StringComparison.Ordinal))
            {
                return Age(current) >= LeastAge ? Mint() : null;
            }

            return _current?.Authorization;
        }
    }

    public override TimeSpan Left => Volatile.Read(ref _current) is { } current ? Longest - Age(current) : Longest;

    /// <summary>Another key. The next token is signed by it at once: Apple counts tokens per connection, and there will be new ones.</summary>
    public void Take(string team, string key, ECDsa signer)
    {
        lock (_lock)
        {
            _keys.Take(new Key(team, key, signer), Stop.IsRefusing);
            Volatile.Write(ref _current, null);
        }

        RaiseChanged();
    }

    public override void Accepted(string authorization)
    {
        if (Volatile.Read(ref _current) is { } current && ReferenceEquals(current.Authorization, authorization))
        {
            _keys.Accepted(current.Key);
        }
    }

    public override bool TryFallBack(string refused)
    {
        bool isChanged;
        lock (_lock)
        {
            // A header that is not the present one: the key in use may have changed since.
            var key = _current is { } current && string.Equals(current.Authorization, refused, StringComparison.Ordinal) ? current.Key : null;
            if (!_keys.TryFallBack(key, out isChanged))
            {
                return false;
            }

            if (isChanged)
            {
                Volatile.Write(ref _current, null);
            }
        }

        if (isChanged)
        {
            Say(_keys.InUse);
            RaiseChanged();
        }

        return true;
    }

    public override void Dispose() => _keys.InUse.Signer.Dispose();

    private void Say(Key inUse)
    {
        if (_keys.IsFallback)
        {
            Log.FellBack(_log, inUse.Id, inUse.Team);
        }
        else
        {
            Log.NewAgain(_log, inUse.Id, inUse.Team);
        }
    }

    private string Renew()
    {
        lock (_lock)
        {
            return _current is { } current && Age(current) < _renewalAge ? current.Authorization : Mint();
        }
    }

    /// <summary>
    /// By whichever clock says more: the wall clock may jump ahead of a wrong <c>iat</c>, or step back and keep a token for ever. A token from before a step back
    /// is out of date at once: its <c>iat</c> is in Apple's future.
    /// </summary>
    private TimeSpan Age(Minted minted)
    {
        var byWall = _time.GetUtcNow() - minted.IssuedAt;
        if (byWall < -StepBack)
        {
            return Longest;
        }

        var elapsed = _time.GetElapsedTime(minted.Timestamp);
        return byWall > elapsed ? byWall : elapsed;
    }

    private string Mint()
    {
        var (now, key) = (_time.GetUtcNow(), _keys.InUse);
        var unsigned = Encode($$"""{"alg":"ES256","kid":"{{key.Id}}"}""") + "."
            + Encode($$"""{"iss":"{{key.Team}}","iat":{{now.ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture)}}}""");
        var signature = key.Signer.SignData(
            Encoding.ASCII.GetBytes(unsigned), HashAlgorithmName.SHA256, DSASignatureFormat.IeeeP1363FixedFieldConcatenation);
        var authorization = $"bearer {unsigned}.{Base64Url.EncodeToString(signature)}";
        Volatile.Write(ref _current, new Minted(authorization, now, _time.GetTimestamp(), key));
        return authorization;
    }

    private static string Encode(string json) => Base64Url.EncodeToString(Encoding.ASCII.GetBytes(json));

    private sealed record Key(string Team, string Id, ECDsa Signer);

    private sealed record Minted(string Authorization, DateTimeOffset IssuedAt, long Timestamp, Key Key);

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "Apple refuses the new key: the one before it, {Key} of team {Team}, is used again. Look at KeyId, TeamId and KeyFile, and revoke no key until the new one is taken.", EventName = "ApnsKeyFellBack")]
        public static partial void FellBack(ILogger logger, string key, string team);

        [LoggerMessage(2, LogLevel.Warning, "Apple refuses the key before: the new one, {Key} of team {Team}, is tried again.", EventName = "ApnsNewKeyAgain")]
        public static partial void NewAgain(ILogger logger, string key, string team);
    }
}
