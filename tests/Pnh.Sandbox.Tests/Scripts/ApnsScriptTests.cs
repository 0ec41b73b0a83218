using Pnh.Sandbox.Scripts;
using Pnh.Sandbox.Tests.Apns;

namespace Pnh.Sandbox.Tests.Scripts;

public sealed class ApnsScriptTests(SandboxFixture fixture) : IClassFixture<SandboxFixture>
{
    private readonly SandboxUnderTest _sandbox = fixture.Sandbox;

    [Theory]
    [InlineData(ScriptKind.Unregistered, null, 410, "Unregistered")]
    [InlineData(ScriptKind.Bad, null, 400, "BadDeviceToken")]
    [InlineData(ScriptKind.Throttled, null, 429, "TooManyRequests")]
    [InlineData(ScriptKind.Unavailable, null, 503, "ServiceUnavailable")]
    [InlineData(ScriptKind.Answer, "ExpiredToken", 410, "ExpiredToken")]
    [InlineData(ScriptKind.Answer, "DeviceTokenNotForTopic", 400, "DeviceTokenNotForTopic")]
    [InlineData(ScriptKind.Answer, "IdleTimeout", 400, "IdleTimeout")]
    [InlineData(ScriptKind.Answer, "Forbidden", 403, "Forbidden")]
    [InlineData(ScriptKind.Answer, "BadCertificate", 403, "BadCertificate")]
    [InlineData(ScriptKind.Answer, "InternalServerError", 500, "InternalServerError")]
    [InlineData(ScriptKind.Answer, "Shutdown", 503, "Shutdown")]
    public async Task Scripted_Times_ThenHealthy(ScriptKind kind, string? reason, int status, string answered)
    {
        string address = ApnsCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address.ToUpperInvariant(), new Script(kind) { Times = 2, Reason = reason });

        Answer first = await PushAsync(address);
        Answer second = await PushAsync(address);
        Assert.Null(_sandbox.Server.Phones.Find(address));
        Answer third = await PushAsync(address);

        Assert.Equal((status, answered), (first.Status, first.Reason));
        Assert.Equal((status, answered), (second.Status, second.Reason));
        Assert.Equal(200, third.Status);
        Assert.Equal(status == 410, first.Json.TryGetProperty("timestamp", out _));
        Assert.Equal(1, _sandbox.Server.Phones.Find(address)!.Received);
    }

    [Theory]
    [InlineData(ScriptKind.Throttled, null, 30.0, "30")]
    [InlineData(ScriptKind.Unavailable, null, 1.5, "2")]
    [InlineData(ScriptKind.Answer, "Shutdown", 0.0, "0")]
    [InlineData(ScriptKind.Throttled, null, null, null)]
    [InlineData(ScriptKind.Unregistered, null, 30.0, null)]
    public async Task Scripted_RetryAfter_IsTheHeader(ScriptKind kind, string? reason, double? seconds, string? header)
    {
        string address = ApnsCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address, new Script(kind) { Reason = reason, RetryAfter = seconds is { } wait ? TimeSpan.FromSeconds(wait) : null });

        Answer answer = await PushAsync(address);

        Assert.Equal(header, answer.Headers.GetValueOrDefault("Retry-After"));
    }

    [Fact]
    public async Task Unregistered_Timestamp_InMilliseconds()
    {
        string address = ApnsCaller.NewAddress();
        DateTimeOffset gone = DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_123);
        _sandbox.Server.Scripts.Set(address, new Script(ScriptKind.Unregistered) { Timestamp = gone });

        Answer answer = await PushAsync(address);

        Assert.Equal(1_700_000_000_123, answer.Json.GetProperty("timestamp").GetInt64());
    }

    [Fact]
    public async Task Slow_AnswersAfterTheDelayOnly()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        ApnsCaller push = new(sandbox);
        sandbox.Server.Scripts.Set(push.Address, new Script(ScriptKind.Slow) { Delay = TimeSpan.FromSeconds(30) });

        Task<Answer> answer = push.SendAsync();
        await sandbox.Clock.WaitForTimersAsync(1, SandboxUnderTest.Patience);
        Assert.Null(sandbox.Server.Phones.Find(push.Address));
        sandbox.Clock.Advance(TimeSpan.FromSeconds(30));

        Assert.Equal(200, (await answer).Status);
    }

    [Fact]
    public async Task Broken_HtmlPage()
    {
        string address = ApnsCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address, new Script(ScriptKind.Broken));

        Answer answer = await PushAsync(address);

        Assert.Equal(502, answer.Status);
        Assert.StartsWith("<!DOCTYPE html>", answer.Body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Broken_StatusAndSize_AsScripted()
    {
        string address = ApnsCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address, new Script(ScriptKind.Broken) { Status = 410, Size = 100_000 });

        Answer answer = await PushAsync(address);

        Assert.Equal((410, 100_000), (answer.Status, answer.Body.Length));
        Assert.Null(_sandbox.Server.Phones.Find(address));
    }

    [Theory]
    [InlineData(ScriptKind.Reset, false)]
    [InlineData(ScriptKind.Disconnect, false)]
    [InlineData(ScriptKind.Reset, true)]
    [InlineData(ScriptKind.Disconnect, true)]
    public async Task ResetOrDisconnect_NoAnswer_DeliveredOnlyWhenAsked(ScriptKind kind, bool delivered)
    {
        string address = ApnsCaller.NewAddress();
        _sandbox.Server.Scripts.Set(address, new Script(kind) { Times = 1, Delivered = delivered });

        await Assert.ThrowsAnyAsync<Exception>(() => PushAsync(address));

        Assert.Equal(delivered ? 1 : 0, _sandbox.Server.Phones.Find(address)?.Received ?? 0);
        Assert.Equal(200, (await PushAsync(address)).Status);
    }

    [Fact]
    public async Task Everyone_Script_ForThoseWithoutOne()
    {
        await using SandboxUnderTest sandbox = await SandboxUnderTest.StartAsync();
        ApnsCaller scripted = new(sandbox);
        sandbox.Server.Scripts.Set(SandboxScripts.Everyone, new Script(ScriptKind.Unavailable));
        sandbox.Server.Scripts.Set(scripted.Address, new Script(ScriptKind.Throttled));

        Answer other = await new ApnsCaller(sandbox).SendAsync();
        Answer own = await scripted.SendAsync();
        sandbox.Server.Scripts.Remove(SandboxScripts.Everyone);
        Answer after = await new ApnsCaller(sandbox).SendAsync();

        Assert.Equal((503, 429, 200), (other.Status, own.Status, after.Status));
    }

    private Task<Answer> PushAsync(string address) => new ApnsCaller(_sandbox) { Address = address }.SendAsync();
}
