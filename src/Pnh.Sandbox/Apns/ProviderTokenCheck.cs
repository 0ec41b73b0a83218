using Microsoft.AspNetCore.Http;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.Apns;

/// <summary>The check of the <c>authorization</c> header: an ES256 JWT with <c>kid</c>, <c>iss</c> and <c>iat</c>.</summary>
internal sealed class ProviderTokenCheck
{
    // P1363: r and s of 32 bytes each (RFC 7518 section 3.4). DER is longer, and refused.
    private const int SignatureBytes = 64;
    private const string Scheme = "bearer ";
    private static readonly TimeSpan Lifetime = TimeSpan.FromHours(1);

    private readonly SandboxCredentials _credentials;
    private readonly SandboxOptions _options;
    private readonly SandboxViolations _violations;

    public ProviderTokenCheck(SandboxCredentials credentials, SandboxOptions options, SandboxViolations violations)
    {
        _credentials = credentials;
        _options = options;
        _violations = violations;
    }

    /// <summary>The reason of the refusal, or null and the token.</summary>
    public string? Check(IHeaderDictionary headers, ApnsConnection connection, out ProviderToken? token)
    {
        token = null;
        string authorization = headers.Authorization.ToString();
        if (!authorization.StartsWith(Scheme, StringComparison.OrdinalIgnoreCase) || authorization.Length == Scheme.Length)
        {
            return ApnsReason.MissingProviderToken;
        }

        string text = authorization[Scheme.Length..];
        token = connection.Known(text) ?? Read(text);
        string? reason = token is null ? ApnsReason.InvalidProviderToken : CheckTimeAndKey(token) ?? connection.Use(token, _options.TokenUpdateWindow);
        switch (reason)
        {
            case ApnsReason.ExpiredProviderToken:
                connection.Wedge();
                break;
            case ApnsReason.TooManyProviderTokenUpdates:
                _violations.Add(ViolationKind.ProviderTokenUpdates);
                break;
        }

        return reason;
    }

    private ProviderToken? Read(string text)
    {
        if (CompactJws.Parse(text) is not { } jws || CompactJws.Text(jws.Header, "alg") != "ES256"
            || CompactJws.Text(jws.Header, "kid") is not { } keyId || CompactJws.Text(jws.Claims, "iss") is not { } teamId
            || CompactJws.Seconds(jws.Claims, "iat") is not { } issuedAt)
        {
            return null;
        }

        return _credentials.FindApnsKey(keyId) is { } key && key.TeamId == teamId
            && jws.Signature.Length == SignatureBytes && key.Verify(jws.Signed, jws.Signature)
            && issuedAt >= 0 && issuedAt < DateTimeOffset.MaxValue.ToUnixTimeSeconds()
            ? new ProviderToken(text, key, DateTimeOffset.FromUnixTimeSeconds(issuedAt))
            : null;
    }

    private string? CheckTimeAndKey(ProviderToken token)
    {
        if (token.Key.Environment is { } environment && environment != _options.ApnsEnvironment)
        {
            return ApnsReason.BadEnvironmentKeyIdInToken;
        }

        TimeSpan age = _options.TimeProvider.GetUtcNow() - token.IssuedAt;
        return age > Lifetime ? ApnsReason.ExpiredProviderToken
            : age < -_options.ClockSkew ? ApnsReason.InvalidProviderToken
            : null;
    }
}
