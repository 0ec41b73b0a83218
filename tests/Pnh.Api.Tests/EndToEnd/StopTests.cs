using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Hosting;
using Pnh.Api.Ingest;
using Pnh.Api.Tests.Ingest;
using Pnh.Core.Journal;
using Pnh.Core.Shards;
using Pnh.Sandbox;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A stop waits for nobody's upload, and lets the pushes under way have their answers.</summary>
public sealed class StopTests
{
    // Well within the 30 s that a stop may take; an upload without end used to take all of them.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Theory]
    [InlineData("/v1/events", """{"to":{"user":"nobody"},"data":"padding, since a body slower than 240 bytes a second is cut"}""", "application/x-ndjson", "accepted")]
    [InlineData("/v1/events", """{"to":{"user":"nobody"},"data":"padding, since a body slower than 240 bytes a second is cut"},""", "application/json", "accepted")]
    [InlineData("/v1/devices:import", """{"user":"bea","device":"tablet","platform":"desktop","appVersion":"padding, as above: 1.2.3.4.5.6.7.8.9"}""", "application/x-ndjson", "imported")]
    public async Task Stop_UploadWithoutEnd_EndsItAndSaysSo(string path, string line, string type, string count)
    {
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: {type}\r\nTransfer-Encoding: chunked\r\n\r\n");

        // The second is refused at once: by then the first was taken.
        var isArray = type == "application/json";
        await SendChunkAsync(client, (isArray ? "[" : "") + line + "\n{}" + (isArray ? "," : ""));
        await client.ReceiveUntilAsync(static text => text.Contains("\"problem\"", StringComparison.Ordinal));
        using var ended = new CancellationTokenSource();
        var sending = SendLinesAsync(client, line, ended.Token);

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\"", StringComparison.Ordinal)).WaitAsync(Patience);
        await ended.CancelAsync();
        await sending;
        client.EndSending();
        var answer = await client.ReceiveAllAsync();
        await stopping.WaitAsync(Patience);

        Assert.Contains("\"done\":false", answer, StringComparison.Ordinal);
        Assert.Contains("\"shutting-down\"", answer, StringComparison.Ordinal);
        Assert.Matches($"\"{count}\":[1-9]", answer);
        Assert.Matches("Nothing from index ([2-9]|[1-9][0-9])", answer);
    }

    [Fact]
    public async Task Stop_UploadWaitsForItsPlaces_EndsItWithWhatWasNotTaken()
    {
        const string Line = """{"to":{"user":"ada"},"class":"bulk"}""";
        await using var hub = await TestHub.StartAsync(null, null, null, [], static services =>
            services.AddSingleton<IEventJournal>(static provider => new GatedJournal(provider.GetRequiredService<SegmentJournal>())));
        var journal = (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();
        journal.IsClosed = true;

        // All places that uploads of one app have.
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        var events = Enumerable.Range(0, 768).Select(n => intake.Read("demo", Encoding.UTF8.GetBytes(Line), null, out _)!).ToArray();
        var inside = hub.Host.Services.GetRequiredService<Hub>().AcceptManyAsync(events).AsTask();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n");
        await SendChunkAsync(client, "{}");
        await client.ReceiveUntilAsync(static text => text.Contains("\"problem\"", StringComparison.Ordinal));
        await SendChunkAsync(client, Line);
        await Task.Delay(200); // on the way to the door, as a rule; one that is not read yet ends alike

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\"", StringComparison.Ordinal)).WaitAsync(Patience);
        journal.IsClosed = false;
        Assert.All(await inside.WaitAsync(Patience), static result => Assert.Equal(AcceptStatus.Accepted, result.Status));
        client.EndSending();
        var answer = await client.ReceiveAllAsync();
        Assert.Contains("\"done\":false,\"accepted\":0", answer, StringComparison.Ordinal);
        Assert.Contains("Nothing from index 1 on", answer, StringComparison.Ordinal);
        await stopping.WaitAsync(Patience);
    }

    [Fact]
    public async Task Stop_TimeUsedUpByRequests_LetsThePushUnderWayHaveItsAnswer()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-").FullName;
        try
        {
            await using (var hub = await TestHub.StartAsync(folder))
            {
                hub.Host.Start.Sandbox!.Scripts.Set("aa22", new Script(ScriptKind.Slow) { Delay = TimeSpan.FromSeconds(1) });
                await hub.SendAsync("PUT", "/v1/users/bob/devices/phone", """{"platform":"ios","apns":{"token":"aa22","environment":"sandbox"}}""");
                await hub.SendAsync("POST", "/v1/events", """{"id":"s-1","to":{"user":"bob"},"notification":{"title":"Hi"}}""");
                await TestHub.EventuallyAsync(() => EventFlowTests.Metric(hub, "pnh_provider_in_flight{channel=\"apns\"}"), static inFlight => inFlight == 1);

                // As the host does once its own time is over.
                var service = hub.Host.Services.GetServices<IHostedService>().OfType<HubService>().Single();
                await service.StoppedAsync(new CancellationToken(canceled: true)).WaitAsync(Patience);
                var history = await hub.Host.Services.GetRequiredService<IEventJournal>().ReadAsync("demo", "s-1", CancellationToken.None);
                Assert.Equal("accepted", history!.Milestones.Single(static m => m.Kind == MilestoneKind.Settled).State);
            }
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static Task StopAsync(TestHub hub)
    {
        var stopping = hub.Host.WaitForShutdownAsync(CancellationToken.None);
        hub.Host.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        return stopping;
    }

    private static Task SendChunkAsync(RawClient client, string line) => client.SendAsync($"{line.Length + 1:x}\r\n{line}\n\r\n");

    private static async Task SendLinesAsync(RawClient client, string line, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            await SendChunkAsync(client, line);
            await Task.Delay(100, CancellationToken.None);
        }
    }
}
