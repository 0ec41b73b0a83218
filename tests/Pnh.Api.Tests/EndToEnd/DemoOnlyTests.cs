using System.Globalization;
using System.Text.RegularExpressions;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.WebConsole;
using Pnh.Sandbox;
using Pnh.Sandbox.Contract;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What only the demo of a first start has, and what a configured app of its name has not.</summary>
public sealed class DemoOnlyTests
{
    [Fact]
    public async Task TabToken_OfAFirstStart_IsTheDemoUsers()
    {
        await using var hub = await TestHub.StartAsync();

        var token = await hub.SendAsync("POST", "/console/token", "{}", credential: hub.Host.Start.OperatorSecret, operations: true);
        Assert.Equal((200, "ada"), (token.Status, token.Json.GetProperty("user").GetString()));
        Assert.Equal("demo", hub.Host.Services.GetRequiredService<IConsoleSource>().Snapshot().App);
    }

    [Theory]
    [InlineData("--Pnh:Apps:demo:Origins=https://app.example.com")]
    [InlineData("--Pnh:Apps:demo:ClientSend=true")]
    public async Task Start_SettingsBelowTheDemo_CompleteIt(string setting)
    {
        await using var hub = await TestHub.StartAsync(configuration: [setting]);
        var demo = hub.Host.Start.Options.Apps["demo"];

        Assert.NotNull(hub.Host.Start.Sandbox);
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"}}""", credential: hub.Host.Start.DemoKey)).Status);
        Assert.Equal(setting.Contains("Origins", StringComparison.Ordinal) ? ["https://app.example.com"] : [], demo.Origins);
        Assert.Equal(setting.Contains("ClientSend", StringComparison.Ordinal), demo.ClientSend);
        Assert.Empty(hub.Host.Start.Options.Doubts);
    }

    [Theory]
    [InlineData("--Pnh:Apps:demo:Tokens:Hs256Secret=0123456789abcdef0123456789abcdef")]
    [InlineData("--Pnh:Apps:demo:Tokens:Audience=demo", "--Pnh:Apps:demo:Tokens:Jwks={\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\",\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\",\"alg\":\"ES256\"}]}")]
    [InlineData("--Pnh:Apps:acme:ClientSend=false", "--Pnh:Apps:demo:Tokens:Hs256Secret=0123456789abcdef0123456789abcdef")]
    public async Task TabToken_OfAConfiguredAppNamedDemo_Is404(params string[] configuration)
    {
        await using var hub = await TestHub.StartAsync(configuration: configuration);

        var token = await hub.SendAsync("POST", "/console/token", "{}", credential: hub.Host.Start.OperatorSecret, operations: true);
        Assert.Equal((404, "no-such-item"), (token.Status, token.Code));
        Assert.Equal(configuration[0].Split(':')[2], hub.Host.Services.GetRequiredService<IConsoleSource>().Snapshot().App);
    }

    [Fact]
    public async Task SandboxProgram_PrintedVariables_MakeAHubThatTakesEventsAndTokens()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-");
        using var stop = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        using var printed = new StringWriter(CultureInfo.InvariantCulture);
        var running = SandboxProgram.RunAsync(new SandboxOptions { Folder = folder.FullName, ApnsPort = 0, FcmPort = 0 }, TextWriter.Synchronized(printed), stop.Token);
        await TestHub.EventuallyAsync(printed.ToString, static text => text.Contains("AllowLoopback", StringComparison.Ordinal));
        var variables = Regex.Matches(printed.ToString(), "export Pnh__(?<name>[A-Za-z0-9_]+)='?(?<value>[^'\n]*)'?").Select(static match =>
            (Name: match.Groups["name"].Value.Replace("__", ":", StringComparison.Ordinal), Value: match.Groups["value"].Value)).ToList();

        await using (var hub = await TestHub.StartAsync(configuration: [.. variables.Select(static one => $"--Pnh:{one.Name}={one.Value}"), "--Pnh:Sandbox=false"]))
        {
            var key = variables.Single(static one => one.Name == "Apps:demo:Keys:0:Secret").Value;
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"x"},"class":"message"}""", credential: key)).Status);
            using var socket = await hub.ConnectAsync("x", "tab-1");
        }

        await stop.CancelAsync();
        Assert.Equal(0, await running);
        folder.Delete(recursive: true);
    }
}
