using Pnh.Sandbox.Scripts;

namespace Pnh.Sandbox.Tests.WebPush;

public sealed class WebPushScriptTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Theory]
    [InlineData(ScriptKind.Unregistered, 410, "push subscription has unsubscribed or expired.\n")]
    [InlineData(ScriptKind.Throttled, 429, "Too many messages for this subscription.\n")]
    [InlineData(ScriptKind.Unavailable, 503, "The service is currently unavailable.\n")]
    [InlineData(ScriptKind.Answer, 500, "{\"reason\":\"InternalServerError\"}\n")]
    public async Task Scripted_Times_ThenHealthy(ScriptKind kind, int status, string body)
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(kind) { Times = 2 });

        Answer first = await push.SendAsync();
        Answer second = await push.SendAsync();
        Assert.Null(_sandbox.Server.Phones.Find(push.Name));
        Answer third = await push.SendAsync();

        Assert.Equal((status, body, status, 201), (first.Status, first.Body, second.Status, third.Status));
        Assert.Equal(status == 429 ? "60" : null, first.Headers.GetValueOrDefault("Retry-After"));
        Assert.Equal(1, _sandbox.Server.Phones.Find(push.Name)!.Received);
    }

    [Fact]
    public async Task Bad_NotFoundLikeAnEndpointMadeUp()
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.Bad));

        Assert.Equal(404, (await push.SendAsync()).Status);
    }

    [Theory]
    [InlineData(ScriptKind.Throttled)]
    [InlineData(ScriptKind.Unavailable)]
    [InlineData(ScriptKind.Answer)]
    public async Task RetryAfter_Given_Sent(ScriptKind kind)
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(kind) { RetryAfter = TimeSpan.FromSeconds(6.5) });

        Assert.Equal("7", (await push.SendAsync()).Headers["Retry-After"]);
    }

    [Fact]
    public async Task Answer_StatusAndReason_InApplesShape()
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.Answer) { Status = 400, Reason = "VapidPkHashMismatch" });

        Answer answer = await push.SendAsync();

        Assert.Equal((400, "VapidPkHashMismatch"), (answer.Status, answer.Reason));
    }

    [Fact]
    public async Task Everyone_BrowsersToo()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        sandbox.Server.Scripts.Set(SandboxScripts.Everyone, new Script(ScriptKind.Unregistered));

        Assert.Equal(410, (await new BrowserCaller(sandbox).SendAsync()).Status);
    }

    [Theory]
    [InlineData(ScriptKind.Reset, "2.0", true)]
    [InlineData(ScriptKind.Reset, "1.1", false)]
    [InlineData(ScriptKind.Disconnect, "2.0", false)]
    [InlineData(ScriptKind.Disconnect, "1.1", true)]
    public async Task NoAnswer_DeliveredOnlyWhenToldSo(ScriptKind kind, string version, bool delivered)
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(kind) { Delivered = delivered });

        await Assert.ThrowsAsync<HttpRequestException>(() => push.SendAsync(push.Encrypt(BrowserCaller.Payload), version: Version.Parse(version)));

        Assert.Equal(delivered ? 1 : null, _sandbox.Server.Phones.Find(push.Name)?.Received);
    }

    [Fact]
    public async Task Broken_PageFromSomethingInFront()
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.Broken) { Size = 10_000 });

        Answer answer = await push.SendAsync();

        Assert.Equal((502, 10_000), (answer.Status, answer.Body.Length));
        Assert.Null(_sandbox.Server.Phones.Find(push.Name));
    }

    [Fact]
    public async Task GoAway_AnsweredAndDelivered()
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.GoAway) { Times = 1 });

        Assert.Equal(201, (await push.SendAsync()).Status);
        Assert.Equal(201, (await push.SendAsync()).Status);
        Assert.Equal(2, _sandbox.Server.Phones.Find(push.Name)!.Received);
    }

    [Fact]
    public async Task Slow_AnswersAfterTheDelayOnly()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        BrowserCaller push = new(sandbox);
        sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.Slow) { Delay = TimeSpan.FromSeconds(30) });

        Task<Answer> answer = push.SendAsync();
        await sandbox.Clock.WaitForTimersAsync(1, SandboxUnderTest.Patience);
        Assert.Null(sandbox.Server.Phones.Find(push.Name));
        sandbox.Clock.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(201, (await answer).Status);
        Assert.Equal(1, sandbox.Server.Phones.Find(push.Name)!.Received);
    }

    [Fact]
    public async Task WrongRequest_ScriptNotUsedUp()
    {
        BrowserCaller push = new(_sandbox);
        _sandbox.Server.Scripts.Set(push.Name, new Script(ScriptKind.Unregistered) { Times = 1 });

        Assert.Equal(400, (await push.With("TTL", null).SendAsync()).Status);
        Assert.Equal(410, (await push.With("TTL", "1").SendAsync()).Status);
    }
}
