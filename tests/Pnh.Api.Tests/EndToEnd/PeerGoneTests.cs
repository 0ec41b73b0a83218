using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Problems;
using Pnh.Api.Tests.Ingest;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Peers that go in the middle of what they send.</summary>
public sealed class PeerGoneTests
{
    [Theory]
    [InlineData("Direct", "PUT /v1/users/ada/devices/phone", "application/json")]
    [InlineData("Framework", "PUT /v1/users/ada/devices/phone", "application/json")]
    [InlineData("Direct", "POST /v1/devices:import", "application/x-ndjson")]
    [InlineData("Framework", "POST /v1/devices:import", "application/x-ndjson")]
    public async Task Upload_ResetByItsPeer_IsNoError(string transport, string request, string type)
    {
        using var log = new RecordedLog();
        await using var hub = await TestHub.StartAsync(
            null, null, null, [$"--Pnh:Sockets:Transport={transport}"],
            services => services.AddLogging(logging => logging.AddProvider(log).AddFilter<RecordedLog>(null, LogLevel.Debug)));
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync($"{request} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: {type}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n");

        // It says so when the endpoint reads.
        await client.ReceiveUntilAsync(static text => text.Contains("100 Continue", StringComparison.Ordinal));
        await client.SendAsync("{\"platform\":");
        client.Reset();

        var line = await TestHub.EventuallyAsync(() => log.Lines.FirstOrDefault(static l => l.Category == typeof(ExceptionProblems).FullName), static l => l.Category is not null);
        Assert.Equal((LogLevel.Debug, null), (line.Level, line.Exception));
        Assert.DoesNotContain(log.Lines, static l => l.Level >= LogLevel.Warning);
    }
}
