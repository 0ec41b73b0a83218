using Pnh.Api.Commands;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.EndToEnd;

namespace Pnh.Api.Tests.Commands;

/// <summary><c>pnh send</c>, <c>event</c> and <c>tail</c> against a real hub.</summary>
public sealed class PublisherCommandsTests
{
    [Fact]
    public async Task Send_ThenEvent_SaysWhatBecameOfIt()
    {
        await using var hub = await TestHub.StartAsync();
        Assert.Equal((0, "order-7\n", ""), await RunAsync(hub, "send", "--user", "ada", "--title", "Shipped", "--data", "{\"order\":7}", "--id", "order-7"));
        Assert.Equal((0, "order-7  it was taken before\n", ""), await RunAsync(hub, "send", "--user", "ada", "--title", "Shipped", "--data", "{\"order\":7}", "--id", "order-7"));
        Assert.Equal((0, "lost  there is no device for it\n", ""), await RunAsync(hub, "send", "--user", "nobody", "--id", "lost"));

        var (exitCode, text, _) = await RunAsync(hub, "event", "order-7");
        Assert.Equal(0, exitCode);
        Assert.StartsWith("order-7  message, ", text, StringComparison.Ordinal);
        Assert.Contains("\nada/ada-iphone  ", text, StringComparison.Ordinal);
        Assert.Contains("planned", text, StringComparison.Ordinal);
        Assert.StartsWith("{\"id\":\"order-7\"", (await RunAsync(hub, "event", "order-7", "--json")).Out, StringComparison.Ordinal);

        var (missing, _, complaint) = await RunAsync(hub, "event", "order-8");
        Assert.Equal(1, missing);
        Assert.StartsWith("pnh: the hub has no event 'order-8'", complaint, StringComparison.Ordinal);
    }

    [Fact]
    public async Task User_WithDevicesAndEvents_SaysWhyEachDidOrDidNotRing()
    {
        await using var hub = await TestHub.StartAsync();
        await hub.SendAsync("PUT", "/v1/users/bea/devices/tablet", """{"platform":"desktop"}""");
        await hub.SendAsync("POST", "/v1/events", """{"id":"first","to":{"user":"bea"}}""");
        await hub.SendAsync("POST", "/v1/events", """{"id":"second","to":{"user":"bea"},"class":"call"}""");
        await TestHub.EventuallyAsync(() => RunAsync(hub, "user", "bea").AsTaskResult().Out, static text => text.Contains("second", StringComparison.Ordinal));

        var (exitCode, text, _) = await RunAsync(hub, "user", "bea");
        Assert.Equal(0, exitCode);
        Assert.StartsWith("bea  not online\n  tablet  desktop, no push address, registered ", text, StringComparison.Ordinal);
        Assert.Contains("  second  call\n  tablet  pending, no-address, waits in its mailbox\n", text, StringComparison.Ordinal);
        Assert.True(text.IndexOf("  second  ", StringComparison.Ordinal) < text.IndexOf("  first  ", StringComparison.Ordinal));
        Assert.DoesNotContain("  first  ", (await RunAsync(hub, "user", "bea", "--limit", "1")).Out, StringComparison.Ordinal);
        Assert.DoesNotContain("second", (await RunAsync(hub, "user", "bea", "--state", "failed")).Out, StringComparison.Ordinal);
        Assert.StartsWith("{\"user\":\"bea\"", (await RunAsync(hub, "user", "bea", "--json")).Out, StringComparison.Ordinal);
        Assert.Contains("/state: One of pending, ", (await RunAsync(hub, "user", "bea", "--state", "lost")).Error, StringComparison.Ordinal);
        Assert.Equal((0, "nobody  not online\n", ""), await RunAsync(hub, "user", "nobody"));
    }

    [Theory]
    [InlineData("pnh: --data is no JSON", "--data", "{order:7}")]
    [InlineData("pnh: invalid-body: ", "--id", "no blanks")]
    public async Task Send_WhatNoHubTakes_IsALineWithTheReason(string expected, params string[] more)
    {
        await using var hub = await TestHub.StartAsync();
        var (exitCode, _, complaint) = await RunAsync(hub, ["send", "--user", "ada", .. more]);
        Assert.Equal(1, exitCode);
        Assert.Contains(expected, complaint, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Send_NoHubAnswers_SaysWhere()
    {
        var (exitCode, _, complaint) = await CommandRun.RunAsync("send", "--user", "ada", "--hub", "http://127.0.0.1:1", "--key", "k");
        Assert.Equal(1, exitCode);
        Assert.StartsWith("pnh: http://127.0.0.1:1/ does not answer: ", complaint, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Tail_OfAnApp_PrintsALineForEachEnd()
    {
        await using var hub = await TestHub.StartAsync();
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"id":"lost-1","to":{"user":"nobody"}}""")).Status);
        using var stopping = new CancellationTokenSource();
        using var output = new StringWriter();
        var written = TextWriter.Synchronized(output);
        var tailing = PnhCommandLine.RunAsync(Of(hub, "tail"), HubCommands.Create(new(written, TextWriter.Null)), new(written, TextWriter.Null), stopping.Token);
        await TestHub.EventuallyAsync(output.ToString, static text => text.Contains("no-devices  lost-1  nobody", StringComparison.Ordinal));
        await stopping.CancelAsync();
        Assert.Equal(0, await tailing.WaitAsync(TimeSpan.FromSeconds(30)));
    }

    private static string[] Of(TestHub hub, params string[] line) => [.. line, "--hub", hub.Host.PublicAddress.AbsoluteUri, "--key", hub.Key];

    private static Task<(int ExitCode, string Out, string Error)> RunAsync(TestHub hub, params string[] line) => CommandRun.RunAsync(Of(hub, line));
}
