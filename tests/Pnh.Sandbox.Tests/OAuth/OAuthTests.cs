using System.Security.Cryptography;
using Pnh.Sandbox.Tests.Fcm;

namespace Pnh.Sandbox.Tests.OAuth;

public sealed class OAuthTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly FcmCaller _google = new(fixture.Sandbox);

    [Fact]
    public async Task Grant_CorrectAssertion_AccessToken()
    {
        Answer answer = await _google.GrantAsync(_google.Assertion());

        Assert.Equal(200, answer.Status);
        Assert.Equal("Bearer", answer.Json.GetProperty("token_type").GetString());
        Assert.Equal(3599, answer.Json.GetProperty("expires_in").GetInt32());
        Assert.Equal(200, (await _google.SendAsync("""{"message":{"token":"a"}}""",
            "Bearer " + answer.Json.GetProperty("access_token").GetString())).Status);
    }

    [Fact]
    public async Task Grant_CloudPlatformScope_AccessToken()
    {
        Answer answer = await _google.GrantAsync(_google.Assertion(scope: "https://www.googleapis.com/auth/cloud-platform"));

        Assert.Equal(200, answer.Status);
    }

    [Theory]
    [InlineData("issuer")]
    [InlineData("kid")]
    [InlineData("audience")]
    [InlineData("key")]
    [InlineData("alg")]
    [InlineData("too-long")]
    [InlineData("expired")]
    [InlineData("future")]
    [InlineData("no-lifetime")]
    [InlineData("not-a-jwt")]
    public async Task Grant_WrongAssertion_InvalidGrant(string what)
    {
        using RSA other = RSA.Create(2048);
        string assertion = what switch
        {
            "issuer" => _google.Assertion(issuer: "someone@else.iam.gserviceaccount.com"),
            "kid" => _google.Assertion(keyId: "0000"),
            "audience" => _google.Assertion(audience: "https://oauth2.googleapis.com/token"),
            "key" => _google.Assertion(key: other),
            "alg" => _google.Assertion(alg: "RS512"),
            "too-long" => _google.Assertion(lifetime: 3601),
            "expired" => _google.Assertion(issuedAfter: -3600),
            "future" => _google.Assertion(issuedAfter: 600),
            "no-lifetime" => _google.Assertion(lifetime: 0),
            _ => "x.y.z",
        };

        Answer answer = await _google.GrantAsync(assertion);

        AssertError(answer, "invalid_grant");
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("https://www.googleapis.com/auth/drive")]
    public async Task Grant_WrongScope_InvalidScope(string? scope) =>
        AssertError(await _google.GrantAsync(_google.Assertion(scope: scope)), "invalid_scope");

    [Fact]
    public async Task Grant_ExtraAudience_AcceptedWhenOptedIn()
    {
        const string googles = "https://oauth2.googleapis.com/token";
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.ExtraAudiences = [googles]);
        FcmCaller google = new(sandbox);

        Answer answer = await google.GrantAsync(google.Assertion(audience: googles));

        Assert.Equal(200, answer.Status);
    }

    [Theory]
    [InlineData("grant_type=authorization_code&code=x", "unsupported_grant_type")]
    [InlineData("assertion=x", "invalid_request")]
    [InlineData("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_request")]
    public async Task Token_WrongForm_ItsError(string form, string error) => AssertError(await _google.TokenAsync(form), error);

    [Fact]
    public async Task Token_JsonBody_InvalidRequest() => AssertError(await _google.TokenAsync("{}", "application/json"), "invalid_request");

    private static void AssertError(Answer answer, string error)
    {
        Assert.Equal(400, answer.Status);
        Assert.Equal(error, answer.Json.GetProperty("error").GetString());
        Assert.NotEqual("", answer.Json.GetProperty("error_description").GetString());
    }
}
