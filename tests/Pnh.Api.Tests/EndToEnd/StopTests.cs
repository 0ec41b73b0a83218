using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Api.Engines;
using Pnh.Api.Hosting;
using Pnh.Api.Ingest;
using Pnh.Api.Tests.Ingest;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;
using Pnh.Sandbox.Scripts;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A stop waits for nobody's upload, and lets the pushes under way have their answers.</summary>
public sealed class StopTests
{
    // Well within the 30 s that a stop may take; an upload without end used to take all of them.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private const string Bulk = """{"to":{"user":"ada"},"class":"bulk"}""";

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
        await using var hub = await StartGatedAsync();
        var inside = TakeAllPlacesAsync(hub);
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n");
        await SendChunkAsync(client, "{}");
        await client.ReceiveUntilAsync(static text => text.Contains("\"problem\"", StringComparison.Ordinal));
        await SendChunkAsync(client, Bulk);
        await Task.Delay(200); // on the way to the door, as a rule; one that is not read yet ends alike

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\"", StringComparison.Ordinal)).WaitAsync(Patience);
        JournalOf(hub).IsClosed = false;
        Assert.All(await inside.WaitAsync(Patience), static result => Assert.Equal(AcceptStatus.Accepted, result.Status));
        client.EndSending();
        var answer = await client.ReceiveAllAsync();
        Assert.Contains("\"done\":false,\"accepted\":0", answer, StringComparison.Ordinal);
        Assert.Contains("Nothing from index 1 on", answer, StringComparison.Ordinal);
        await stopping.WaitAsync(Patience);
    }

    /// <summary>Of a body whose length is told the end is read together with the last events, long before those are taken or not.</summary>
    [Theory]
    [InlineData("application/x-ndjson", Bulk + "\n" + Bulk + "\n")]
    [InlineData("application/x-ndjson", Bulk + "\n" + Bulk)]
    [InlineData("application/json", "[" + Bulk + "," + Bulk + "]")]
    [InlineData("application/json", "[" + Bulk + "," + Bulk + "}")]
    public async Task Stop_WholeUploadWaitsForItsPlaces_EndsItAsNotTaken(string type, string body)
    {
        await using var hub = await StartGatedAsync();
        var inside = TakeAllPlacesAsync(hub);
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: {type}\r\nContent-Length: {body.Length}\r\n\r\n{body}");
        await Task.Delay(200); // at the door, as a rule; one that is not read yet ends alike

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\"", StringComparison.Ordinal)).WaitAsync(Patience);
        JournalOf(hub).IsClosed = false;
        await inside.WaitAsync(Patience);
        var answer = await client.ReceiveAllAsync();
        Assert.Contains("\"done\":false,\"accepted\":0", answer, StringComparison.Ordinal);
        Assert.Contains("\"shutting-down\"", answer, StringComparison.Ordinal);
        Assert.Contains("Nothing from index 0 on", answer, StringComparison.Ordinal);
        await stopping.WaitAsync(Patience);
    }

    /// <summary>Most clients do not read while they upload: the last line must wait for them, and not be lost with a reset.</summary>
    [Theory]
    [InlineData("/v1/events", "application/x-ndjson")]
    [InlineData("/v1/events", "application/json")]
    [InlineData("/v1/devices:import", "application/x-ndjson")]
    public async Task Stop_SenderOfKnownLengthWritesOnAndReadsLater_HasTheLastLine(string path, string type)
    {
        // Half a second of them: long after the answer, and a tenth of the time that the server waits for them, also on busy cores.
        const int Lines = 10;
        var line = (type == "application/json" ? "{}," : "{}\n") + new string(' ', 97);
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: {type}\r\nContent-Length: {1 + (Lines * line.Length)}\r\n\r\n");
        await client.SendAsync((type == "application/json" ? "[" : " ") + line);
        await Task.Delay(200); // read, as a rule: its refusal waits for the body's end

        var stopping = StopAsync(hub);
        for (var i = 1; i < Lines; i++)
        {
            await Task.Delay(50);
            await client.SendAsync(line);
        }

        var answer = await client.ReceiveAllAsync();
        Assert.False(client.WasReset, answer);
        Assert.Contains("\"done\":false", answer, StringComparison.Ordinal);
        Assert.Contains("\"shutting-down\"", answer, StringComparison.Ordinal);
        Assert.EndsWith("0\r\n\r\n", answer, StringComparison.Ordinal);
        await stopping.WaitAsync(Patience);
    }

    /// <summary>A hundred errors each: some megabytes are on their way to somebody who reads none of them.</summary>
    [Theory]
    [InlineData("/v1/events")]
    [InlineData("/v1/devices:import")]
    public async Task Stop_UploadWhoseAnswerNobodyReads_IsNotWaitedFor(string path)
    {
        var line = $"{{{string.Join(',', Enumerable.Range(0, 100).Select(static n => $"\"x{n}\":0"))}}}\n";
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000000000\r\n\r\n");
        var sending = SendUntilRefusedAsync(client, string.Concat(Enumerable.Repeat(line, 100)), 20);
        await Task.Delay(1_000); // until the buffers between the two are full, as a rule

        await StopAsync(hub).WaitAsync(Patience);

        await sending.WaitAsync(Patience);
    }

    [Fact]
    public async Task Stop_BlanksWithoutEnd_AreNotWaitedFor()
    {
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{new string(' ', 50_000)}");
        await Task.Delay(200); // read, as a rule

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"shutting-down\"", StringComparison.Ordinal)).WaitAsync(Patience);

        await stopping.WaitAsync(Patience);
    }

    /// <summary>The server passes over what still comes; its own bound for that does not count during a stop.</summary>
    [Theory]
    [InlineData("Content-Length: 1000000000", "{}\n")]
    [InlineData("Transfer-Encoding: chunked", "3\r\n{}\n\r\n")]
    public async Task Stop_SenderWhoNeverEnds_IsNotWaitedFor(string framing, string line)
    {
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync(
            $"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {hub.Key}\r\nContent-Type: application/x-ndjson\r\n{framing}\r\n\r\n{line}");
        await Task.Delay(200); // read, as a rule

        var stopping = StopAsync(hub);
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\":false", StringComparison.Ordinal)).WaitAsync(Patience);
        var sending = SendUntilRefusedAsync(client, line, int.MaxValue);

        await stopping.WaitAsync(Patience);
        await sending.WaitAsync(Patience);
    }

    /// <summary>Refused at once or not, the server waits for what was promised of a body; a phone that loses its network in between is enough.</summary>
    [Theory]
    [InlineData("POST /nope", false, "HTTP/1.1 404")]
    [InlineData("POST /v1/events:explain", false, "HTTP/1.1 401")]
    [InlineData("PUT /v1/users/ada/devices/tab", true, "")]
    public async Task Stop_BodyOfWhichNothingComes_IsNotWaitedFor(string request, bool hasKey, string expected)
    {
        await using var hub = await TestHub.StartAsync();
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        var key = hasKey ? $"Authorization: Bearer {hub.Key}\r\n" : "";
        await client.SendAsync($"{request} HTTP/1.1\r\nHost: a\r\n{key}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n");
        await client.ReceiveUntilAsync(text => text.StartsWith(expected, StringComparison.Ordinal));
        await Task.Delay(200); // read, as a rule

        await StopAsync(hub).WaitAsync(Patience);

        Assert.StartsWith(expected, await client.ReceiveAllAsync(), StringComparison.Ordinal);
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

    private static Task<TestHub> StartGatedAsync() => TestHub.StartAsync(null, null, null, [], static services =>
        services.AddSingleton<IEventJournal>(static provider => new GatedJournal(provider.GetRequiredService<IStorageEngine>().Journal)));

    private static GatedJournal JournalOf(TestHub hub) => (GatedJournal)hub.Host.Services.GetRequiredService<IEventJournal>();

    /// <summary>Takes all places that uploads of one app have, until the journal is opened.</summary>
    private static Task<AcceptResult[]> TakeAllPlacesAsync(TestHub hub)
    {
        JournalOf(hub).IsClosed = true;
        var intake = hub.Host.Services.GetRequiredService<EventIntake>();
        var events = Enumerable.Range(0, 768).Select(n => intake.Read("demo", Encoding.UTF8.GetBytes(Bulk), null, out _)!).ToArray();
        return hub.Host.Services.GetRequiredService<Hub>().Acceptor.AcceptManyAsync(events).AsTask();
    }

    private static Task StopAsync(TestHub hub)
    {
        var stopping = hub.Host.WaitForShutdownAsync(CancellationToken.None);
        hub.Host.Services.GetRequiredService<IHostApplicationLifetime>().StopApplication();
        return stopping;
    }

    private static Task SendChunkAsync(RawClient client, string line) => client.SendAsync($"{line.Length + 1:x}\r\n{line}\n\r\n");

    private static async Task SendUntilRefusedAsync(RawClient client, string text, int times)
    {
        try
        {
            for (var i = 0; i < times; i++)
            {
                await client.SendAsync(text);
                await Task.Yield();
            }
        }
        catch (SocketException)
        {
            // The hub has closed the connection.
        }
    }

    private static async Task SendLinesAsync(RawClient client, string line, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            await SendChunkAsync(client, line);
            await Task.Delay(100, CancellationToken.None);
        }
    }
}
