using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.OAuth;

/// <summary>The check of a service account's assertion: an RS256 JWT ("Using OAuth 2.0 for server to server applications").</summary>
internal sealed class AssertionCheck
{
    private const int MaxLifetimeSeconds = 3600;
    private const string TimesText =
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.";

    private static readonly string[] Scopes =
        ["https://www.googleapis.com/auth/firebase.messaging", "https://www.googleapis.com/auth/cloud-platform"];

    private readonly SandboxServiceAccount _account;
    private readonly SandboxOptions _options;

    public AssertionCheck(SandboxServiceAccount account, SandboxOptions options)
    {
        _account = account;
        _options = options;
    }

    /// <summary>Null for a good assertion.</summary>
    public OAuthError? Check(string assertion)
    {
        if (CompactJws.Parse(assertion) is not { } jws)
        {
            return OAuthError.Grant("Invalid JWT: Failed to parse.");
        }

        if (CompactJws.Text(jws.Header, "alg") != "RS256")
        {
            return OAuthError.Grant("Invalid JWT: alg must be RS256.");
        }

        if (CompactJws.Text(jws.Claims, "iss") != _account.ClientEmail)
        {
            return OAuthError.Grant("Invalid grant: account not found");
        }

        if (CompactJws.Text(jws.Header, "kid") != _account.KeyId || !_account.Verify(jws.Signed, jws.Signature))
        {
            return OAuthError.Grant("Invalid JWT Signature.");
        }

        if (CompactJws.Text(jws.Claims, "aud") is not { } audience
            || (audience != _account.TokenUri && !_options.ExtraAudiences.Contains(audience)))
        {
            return OAuthError.Grant("Invalid JWT: Failed audience check.");
        }

        return CheckTimes(CompactJws.Seconds(jws.Claims, "iat"), CompactJws.Seconds(jws.Claims, "exp"))
            ?? CheckScope(CompactJws.Text(jws.Claims, "scope"));
    }

    private OAuthError? CheckTimes(long? issuedAt, long? expires)
    {
        long now = _options.TimeProvider.GetUtcNow().ToUnixTimeSeconds();
        long skew = (long)_options.ClockSkew.TotalSeconds;
        return issuedAt is { } iat && expires is { } exp
            && exp > iat && exp - iat <= MaxLifetimeSeconds && iat <= now + skew && exp > now
            ? null
            : OAuthError.Grant(TimesText);
    }

    private static OAuthError? CheckScope(string? scope) =>
        scope is { Length: > 0 } && scope.Split(' ').All(one => Scopes.Contains(one))
            ? null
            : new OAuthError("invalid_scope", "Invalid OAuth scope or ID token audience provided.");
}
