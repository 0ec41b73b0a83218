using System.Buffers.Text;
using System.Collections.Concurrent;
using System.Security.Cryptography;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.OAuth;

/// <summary>The access tokens that are out, and until when they are good. Thread-safe.</summary>
internal sealed class AccessTokens
{
    private const string Scheme = "Bearer ";
    private const int KeptBeforeSweep = 1000;

    private readonly ConcurrentDictionary<string, DateTimeOffset> _until = new(StringComparer.Ordinal);
    private readonly SandboxOptions _options;
    private long _granted;

    public AccessTokens(SandboxOptions options)
    {
        _options = options;
    }

    public long Granted => Interlocked.Read(ref _granted);

    public string Grant()
    {
        DateTimeOffset now = _options.TimeProvider.GetUtcNow();
        if (_until.Count >= KeptBeforeSweep)
        {
            foreach ((string old, DateTimeOffset until) in _until)
            {
                if (until <= now)
                {
                    _until.TryRemove(old, out _);
                }
            }
        }

        Interlocked.Increment(ref _granted);
        string token = "ya29.sandbox." + Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(32));
        _until[token] = now + _options.AccessTokenLifetime;
        return token;
    }

    /// <summary>Makes every token that is out unknown.</summary>
    public void Revoke() => _until.Clear();

    /// <summary>Google's ErrorInfo reason for an authorization header that is no good, or null.</summary>
    public string? Check(string authorization)
    {
        if (authorization.Length == 0)
        {
            return "CREDENTIALS_MISSING";
        }

        if (!authorization.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase)
            || !_until.TryGetValue(authorization[Scheme.Length..], out DateTimeOffset until))
        {
            return "ACCESS_TOKEN_TYPE_UNSUPPORTED";
        }

        return until > _options.TimeProvider.GetUtcNow() ? null : "ACCESS_TOKEN_EXPIRED";
    }
}
