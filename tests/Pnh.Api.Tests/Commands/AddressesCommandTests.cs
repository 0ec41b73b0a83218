using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Core.Hubs;
using Pnh.Sandbox.Scripts;
using static Pnh.Api.Tests.Commands.CommandRun;

namespace Pnh.Api.Tests.Commands;

/// <summary><c>pnh addresses</c> against a hub whose provider calls many addresses bad at once.</summary>
public sealed class AddressesCommandTests : IAsyncLifetime
{
    private const int Phones = 30;
    private const int Resting = Phones - 20;
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Fact]
    public async Task Addresses_ManyWereRefused_ListsReleasesAndDropsThem()
    {
        Assert.Equal((0, ""), await CommandAsync());
        Assert.Contains("No address of that account rests", (await RunAsync(["addresses", "release", "--account", "apns/demo/1", .. Configuration])).Error, StringComparison.Ordinal);
        for (var i = 0; i < Phones; i++)
        {
            await _hub.SendAsync("PUT", $"/v1/users/u{i}/devices/phone", $$$"""{"platform":"ios","apns":{"token":"{{{Token(i)}}}","environment":"sandbox"}}""");
        }

        await SendAllAsync(ScriptKind.Bad);
        await UntilRestingAsync(Resting);
        var (exitCode, line) = await CommandAsync();
        Assert.Equal(0, exitCode);
        Assert.Matches(@$"^apns/demo/1  {Resting} rest since \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ  BadDeviceToken\n$", line);

        Assert.Equal((0, $"{Resting} addresses of apns/demo/1 get pushes again\n"), await CommandAsync("release", "--account", "apns/demo/1"));
        Assert.Equal((0, ""), await CommandAsync());
        await SendAllAsync(null);
        await TestHub.EventuallyAsync(
            () => Enumerable.Range(0, Phones).Count(i => _hub.Host.Start.Sandbox!.Phones.Find(Token(i))?.LockScreen.Count > 0), static count => count == Resting);

        await SendAllAsync(ScriptKind.Bad);
        await UntilRestingAsync(Resting);
        Assert.Equal((0, $"{Resting} addresses of apns/demo/1 were taken off their devices\n"), await CommandAsync("drop", "--account", "apns/demo/1"));
        for (var i = 0; i < Phones; i++)
        {
            Assert.False((await _hub.SendAsync("GET", $"/v1/users/u{i}/devices/phone")).Json.TryGetProperty("apns", out _));
        }
    }

    private static string Token(int i) => $"{i:x8}dead";

    private string[] Configuration => [$"--Pnh:Data={_hub.Host.Start.Folder.FolderPath}", $"--Pnh:OperationsUrls={_hub.Host.OperationsAddress}"];

    private async Task<(int ExitCode, string Out)> CommandAsync(params string[] line)
    {
        var (exitCode, output, error) = await RunAsync(["addresses", .. line, .. Configuration]);
        Assert.Equal("", error);
        return (exitCode, output);
    }

    private async Task SendAllAsync(ScriptKind? kind)
    {
        for (var i = 0; i < Phones; i++)
        {
            if (kind is { } bad)
            {
                _hub.Host.Start.Sandbox!.Scripts.Set(Token(i), new Script(bad));
            }
            else
            {
                _hub.Host.Start.Sandbox!.Scripts.Remove(Token(i));
            }

            Assert.Equal(202, (await _hub.SendAsync("POST", "/v1/events", $$$"""{"to":{"user":"u{{{i}}}"},"notification":{"title":"Hi"}}""")).Status);
        }
    }

    private Task<long> UntilRestingAsync(int count) => TestHub.EventuallyAsync(
        () => _hub.Host.Services.GetRequiredService<Hub>().Rests.CountOf("apns"), resting => resting == count);
}
