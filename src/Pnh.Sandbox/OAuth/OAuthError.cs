namespace Pnh.Sandbox.OAuth;

/// <summary>A refusal in OAuth's shape (RFC 6749 section 5.2); the texts are close to Google's.</summary>
internal sealed record OAuthError(string Code, string Description)
{
    public static OAuthError Grant(string description) => new("invalid_grant", description);
}
