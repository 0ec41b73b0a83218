using System.Security.Cryptography;
using System.Text;

namespace Pnh.Sandbox.Tests.Fcm;

/// <summary>Requests to OAuth and FCM, correct unless a test makes them wrong.</summary>
internal sealed class FcmCaller(SandboxUnderTest sandbox)
{
    private const string Scope = "https://www.googleapis.com/auth/firebase.messaging";
    private string? _accessToken;

    public static string NewAddress() => "fid" + RandomNumberGenerator.GetHexString(8) + ":APA91b" + RandomNumberGenerator.GetHexString(32);

    public string Assertion(string? scope = Scope, string? audience = null, string? issuer = null, string? keyId = null, long issuedAfter = 0,
        long lifetime = 3600, RSA? key = null, string alg = "RS256")
    {
        long iat = sandbox.Now.ToUnixTimeSeconds() + issuedAfter;
        return Jwt.Rs256(key ?? sandbox.AccountKey,
            $$"""{"alg":"{{alg}}","typ":"JWT","kid":"{{keyId ?? sandbox.Account.GetProperty("private_key_id").GetString()}}"}""",
            $$"""
            {"iss":"{{issuer ?? sandbox.Account.GetProperty("client_email").GetString()}}",
             "aud":"{{audience ?? sandbox.Account.GetProperty("token_uri").GetString()}}",
             "iat":{{iat}},"exp":{{iat + lifetime}}{{(scope is null ? "" : $",\"scope\":\"{scope}\"")}}}
            """);
    }

    public Task<Answer> TokenAsync(string body, string contentType = "application/x-www-form-urlencoded")
    {
        HttpRequestMessage request = new(HttpMethod.Post, new Uri(sandbox.Account.GetProperty("token_uri").GetString()!))
        {
            Content = new StringContent(body, Encoding.UTF8, contentType),
        };
        return sandbox.SendAsync(request);
    }

    public Task<Answer> GrantAsync(string assertion) =>
        TokenAsync("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=" + Uri.EscapeDataString(assertion));

    public async Task<string> AccessTokenAsync() =>
        _accessToken ??= (await GrantAsync(Assertion())).Json.GetProperty("access_token").GetString()!;

    /// <summary>Sends a body; the authorization is a good one unless given (empty for none).</summary>
    public async Task<Answer> SendAsync(string body, string? authorization = null, string? project = null)
    {
        authorization ??= "Bearer " + await AccessTokenAsync();
        HttpRequestMessage request = new(HttpMethod.Post,
            new Uri(sandbox.Server.FcmAddress, $"/v1/projects/{project ?? sandbox.Project}/messages:send"))
        {
            Content = SandboxUnderTest.Json(body),
        };
        if (authorization.Length > 0)
        {
            request.Headers.TryAddWithoutValidation("authorization", authorization);
        }

        return await sandbox.SendAsync(request);
    }

    /// <summary>Sends a message's members to a phone.</summary>
    public Task<Answer> SendToAsync(string address, string members = """ "notification":{"title":"Grace","body":"Hello"} """) =>
        SendAsync($$$"""{"message":{"token":"{{{address}}}",{{{members}}} }}""");
}
