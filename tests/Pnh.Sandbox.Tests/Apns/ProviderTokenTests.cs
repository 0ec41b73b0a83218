using System.Buffers.Text;
using System.Security.Cryptography;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;

namespace Pnh.Sandbox.Tests.Apns;

public sealed class ProviderTokenTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    private SandboxCredentials Known => _sandbox.Server.Credentials;

    private long Iat => _sandbox.Now.ToUnixTimeSeconds();

    [Fact]
    public async Task Push_ValidToken_Accepted()
    {
        Answer answer = await new ApnsCaller(_sandbox).SendAsync();

        Assert.Equal((200, ""), (answer.Status, answer.Body));
    }

    [Theory]
    [InlineData(null)]
    [InlineData("bearer ")]
    [InlineData("basic YTpi")]
    public async Task Push_NoToken_MissingProviderToken(string? authorization)
    {
        ApnsCaller caller = new(_sandbox);
        caller.With("authorization", authorization is null ? [] : [authorization]);

        Answer answer = await caller.SendAsync();

        Assert.Equal((403, "MissingProviderToken"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Push_DerSignature_InvalidProviderToken() => await AssertInvalid(Jwt.Es256(_sandbox.ApnsKey,
        $$"""{"alg":"ES256","kid":"{{Known.KeyId}}"}""", $$"""{"iss":"{{Known.TeamId}}","iat":{{Iat}}}""",
        DSASignatureFormat.Rfc3279DerSequence));

    [Fact]
    public async Task Push_PaddedBase64_InvalidProviderToken()
    {
        string[] parts = _sandbox.ProviderToken().Split('.');
        // 64 bytes end with two characters of padding in plain base64.
        string padded = Convert.ToBase64String(Base64Url.DecodeFromChars(parts[2]));

        Assert.EndsWith("==", padded, StringComparison.Ordinal);
        await AssertInvalid($"{parts[0]}.{parts[1]}.{padded}");
    }

    [Fact]
    public async Task Push_StrayBitsInBase64_InvalidProviderToken()
    {
        string token = _sandbox.ProviderToken();
        // The last character of 64 bytes carries four bits that must be zero: A, Q, g or w.
        string stray = token[..^1] + (char)(token[^1] + 1);

        await AssertInvalid(stray);
    }

    [Fact]
    public async Task Push_OtherKeySigned_InvalidProviderToken()
    {
        using ECDsa other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        await AssertInvalid(Jwt.Es256(other, Known.KeyId, Known.TeamId, _sandbox.Now));
    }

    [Fact]
    public async Task Push_UnknownKeyId_InvalidProviderToken() =>
        await AssertInvalid(Jwt.Es256(_sandbox.ApnsKey, "0000000000", Known.TeamId, _sandbox.Now));

    [Fact]
    public async Task Push_OtherTeam_InvalidProviderToken() =>
        await AssertInvalid(Jwt.Es256(_sandbox.ApnsKey, Known.KeyId, "0000000000", _sandbox.Now));

    [Theory]
    [InlineData("none")]
    [InlineData("HS256")]
    [InlineData("es256")]
    public async Task Push_OtherAlgorithm_InvalidProviderToken(string alg) =>
        await AssertInvalid(Jwt.Es256(_sandbox.ApnsKey, Known.KeyId, Known.TeamId, _sandbox.Now, alg));

    [Fact]
    public async Task Push_IatAsText_InvalidProviderToken() => await AssertInvalid(Jwt.Es256(_sandbox.ApnsKey,
        $$"""{"alg":"ES256","kid":"{{Known.KeyId}}"}""", $$"""{"iss":"{{Known.TeamId}}","iat":"{{Iat}}"}"""));

    [Fact]
    public async Task Push_NotAJwt_InvalidProviderToken() => await AssertInvalid("abc.def");

    [Fact]
    public async Task Push_IatBeyondSkew_InvalidProviderToken() => await AssertInvalid(_sandbox.ProviderToken(TimeSpan.FromMinutes(-6)));

    [Theory]
    [InlineData(59, 200, null)]
    [InlineData(61, 403, "ExpiredProviderToken")]
    [InlineData(-4, 200, null)]
    public async Task Push_IatWindow_OneHour(int ageMinutes, int status, string? reason)
    {
        Answer answer = await SendAsync(_sandbox.ProviderToken(TimeSpan.FromMinutes(ageMinutes)));

        Assert.Equal((status, reason), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Push_KeyOfOtherEnvironment_BadEnvironmentKeyIdInToken()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        Known.TrustApnsKey(Known.TeamId, "PRODUCTION", key, ApnsEnvironment.Production);

        Answer answer = await SendAsync(Jwt.Es256(key, "PRODUCTION", Known.TeamId, _sandbox.Now));

        Assert.Equal((403, "BadEnvironmentKeyIdInToken"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Push_TopicSpecificKey_OnlyItsTopics()
    {
        using ECDsa key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        Known.TrustApnsKey(Known.TeamId, "TOPICKEY01", key, topics: ["com.example.demo"]);
        string token = Jwt.Es256(key, "TOPICKEY01", Known.TeamId, _sandbox.Now);

        Answer allowed = await SendAsync(token);
        Answer refused = await new ApnsCaller(_sandbox).With("authorization", "bearer " + token).With("apns-topic", "com.example.other").SendAsync();

        Assert.Equal(200, allowed.Status);
        Assert.Equal((400, "TopicDisallowed"), (refused.Status, refused.Reason));
    }

    private Task<Answer> SendAsync(string token) => new ApnsCaller(_sandbox).With("authorization", "bearer " + token).SendAsync();

    private async Task AssertInvalid(string token)
    {
        Answer answer = await SendAsync(token);

        Assert.Equal((403, "InvalidProviderToken"), (answer.Status, answer.Reason));
    }
}
