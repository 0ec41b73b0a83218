using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Tests.Fcm;

public sealed class FcmErrorTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;
    private readonly FcmCaller _fcm = new(fixture.Sandbox);

    [Fact]
    public async Task Send_Correct_NameOfTheMessage()
    {
        Answer answer = await _fcm.SendToAsync(FcmCaller.NewAddress());

        Assert.Equal(200, answer.Status);
        Assert.StartsWith($"projects/{_sandbox.Project}/messages/", answer.Json.GetProperty("name").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_ValidateOnly_ReachesNoPhone()
    {
        string address = FcmCaller.NewAddress();

        Answer answer = await _fcm.SendAsync($$$"""{"validateOnly":true,"message":{"token":"{{{address}}}"}}""");

        Assert.Equal(200, answer.Status);
        Assert.Null(_sandbox.Server.Phones.Find(address));
    }

    [Theory]
    [InlineData("", "CREDENTIALS_MISSING")]
    [InlineData("Bearer ya29.unknown", "ACCESS_TOKEN_TYPE_UNSUPPORTED")]
    [InlineData("Basic YTpi", "ACCESS_TOKEN_TYPE_UNSUPPORTED")]
    public async Task Send_NoGoodToken_Unauthenticated(string authorization, string reason)
    {
        Answer answer = await _fcm.SendAsync("{}", authorization);

        AssertError(answer, 401, "UNAUTHENTICATED", errorCode: null);
        Assert.Equal(reason, answer.Detail("google.rpc.ErrorInfo")?.GetProperty("reason").GetString());
        Assert.Contains("invalid_token", answer.Headers["WWW-Authenticate"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_TokenExpiredOrRevoked_Unauthenticated()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(o => o.AccessTokenLifetime = TimeSpan.FromMinutes(5));
        FcmCaller fcm = new(sandbox);

        Answer good = await fcm.SendToAsync("a");
        sandbox.Clock.Advance(TimeSpan.FromMinutes(5));
        Answer expired = await fcm.SendToAsync("a");
        sandbox.Server.RevokeAccessTokens();
        Answer revoked = await fcm.SendToAsync("a");

        Assert.Equal(200, good.Status);
        Assert.Equal("ACCESS_TOKEN_EXPIRED", expired.Detail("google.rpc.ErrorInfo")?.GetProperty("reason").GetString());
        Assert.Equal(401, revoked.Status);
        Assert.Equal(1, sandbox.Server.AccessTokensGranted);
    }

    [Fact]
    public async Task Send_OtherProject_PermissionDenied()
    {
        Answer answer = await _fcm.SendAsync("""{"message":{"token":"a"}}""", project: "other-project");

        AssertError(answer, 403, "PERMISSION_DENIED", errorCode: null);
    }

    [Theory]
    [InlineData("/v1/projects/p/messages")]
    [InlineData("/v1/projects//messages:send")]
    [InlineData("/v1/projects/a/b/messages:send")]
    [InlineData("/batch")]
    public async Task Post_UnknownPath_HtmlPage(string path)
    {
        Answer answer = await _sandbox.SendAsync(new HttpRequestMessage(HttpMethod.Post, new Uri(_sandbox.Server.FcmAddress, path)));

        Assert.Equal(404, answer.Status);
        Assert.StartsWith("text/html", answer.Headers["Content-Type"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_MoreThanTheMinuteHolds_QuotaExceededUntilTheRefill()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync(options => options.FcmMessagesPerMinute = 2);
        FcmCaller fcm = new(sandbox);

        await fcm.SendToAsync("a");
        Answer wrong = await fcm.SendAsync("{");
        sandbox.Clock.Advance(TimeSpan.FromSeconds(20));
        Answer over = await fcm.SendToAsync("a");
        sandbox.Clock.Advance(TimeSpan.FromSeconds(40));
        Answer refilled = await fcm.SendToAsync("a");

        Assert.Equal((400, 200), (wrong.Status, refilled.Status));
        AssertError(over, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED");
        Assert.Equal("40", over.Headers["Retry-After"]);
        Assert.NotNull(over.Detail("google.rpc.QuotaFailure"));
    }

    [Theory]
    [InlineData(ScriptKind.Unregistered, null, 404, "NOT_FOUND", "UNREGISTERED")]
    [InlineData(ScriptKind.Bad, null, 400, "INVALID_ARGUMENT", "INVALID_ARGUMENT")]
    [InlineData(ScriptKind.Throttled, null, 429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED")]
    [InlineData(ScriptKind.Unavailable, null, 503, "UNAVAILABLE", "UNAVAILABLE")]
    [InlineData(ScriptKind.Answer, "SENDER_ID_MISMATCH", 403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH")]
    [InlineData(ScriptKind.Answer, "INTERNAL", 500, "INTERNAL", "INTERNAL")]
    [InlineData(ScriptKind.Answer, "THIRD_PARTY_AUTH_ERROR", 401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR")]
    [InlineData(ScriptKind.Answer, "RATE_LIMIT_EXCEEDED", 429, "RESOURCE_EXHAUSTED", null)]
    public async Task Send_ScriptedAddress_GoogleShape(ScriptKind kind, string? reason, int code, string status, string? errorCode)
    {
        string address = FcmCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address, new Script(kind) { Reason = reason, RetryAfter = TimeSpan.FromSeconds(30), Times = 1 });

        Answer refused = await _fcm.SendToAsync(address);
        Answer healthy = await _fcm.SendToAsync(address);

        AssertError(refused, code, status, errorCode);
        Assert.Equal(code is 429 or 503 ? "30" : null, code is 429 or 503 ? refused.Headers["Retry-After"] : null);
        Assert.Equal(kind == ScriptKind.Bad ? ["message.token"] : [], refused.ViolatedFields);
        Assert.Equal(errorCode == "THIRD_PARTY_AUTH_ERROR", refused.Detail("google.firebase.fcm.v1.ApnsError") is not null);
        Assert.Equal(
            errorCode is null ? "SendsPerMinutePerProject" : null,
            refused.Detail("google.rpc.ErrorInfo")?.GetProperty("metadata").GetProperty("quota_limit").GetString());
        Assert.Equal(200, healthy.Status);
        Assert.Equal(1, _sandbox.Server.Phones.Find(address)?.Received);
    }

    private static void AssertError(Answer answer, int code, string status, string? errorCode)
    {
        Assert.Equal(code, answer.Status);
        Assert.Equal(code, answer.Error.GetProperty("code").GetInt32());
        Assert.Equal(status, answer.Error.GetProperty("status").GetString());
        Assert.NotEqual("", answer.Error.GetProperty("message").GetString());
        Assert.Equal(errorCode, answer.ErrorCode);
    }
}
