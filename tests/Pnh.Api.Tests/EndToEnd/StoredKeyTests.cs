using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Api.Operations;
using Pnh.Api.Access;
using Pnh.Api.Commands;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.Ingest;
using Pnh.Core.Stores;

namespace Pnh.Api.Tests.EndToEnd;

public sealed class StoredKeyTests
{
    [Fact]
    public async Task Start_KeysOfAnAppThatIsGone_AreSkippedWithOneWarning()
    {
        await using var first = await TestHub.StartAsync();
        var (kept, gone) = (PublisherKey.Create("demo", Scope.Send), PublisherKey.Create("gone", Scope.Send));
        var stored = first.Host.Services.GetRequiredService<IPublisherKeyStore>();
        foreach (var key in new[] { kept.Key, gone.Key, PublisherKey.Create("gone", Scope.Read).Key })
        {
            await stored.AddAsync(key.ToStored(DateTimeOffset.UnixEpoch), CancellationToken.None);
        }

        await first.Host.DisposeAsync();
        using var log = new Lines();
        await using var host = await HubHost.BuildAsync(
            TestHub.Tokens(first.Folder), new ConfigurationErrors(), builder => builder.Logging.ClearProviders().AddProvider(log), CancellationToken.None);
        await host!.StartAsync(CancellationToken.None);

        var keys = host.Services.GetRequiredService<PublisherKeys>();
        Assert.NotNull(keys.Find(kept.Secret));
        Assert.Null(keys.Find(gone.Secret));
        Assert.Single(log.Warnings, static line => line.Contains("gone", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Revoke_KeyOfAnOpenConnection_IsRefusedAtOnceAndAfterARestart()
    {
        const string body = """{"to":{"user":"x"},"class":"transient"}""";
        await using var first = await TestHub.StartAsync();
        var hub = new OperationsClient(first.Host.OperationsAddress, first.Folder);
        var key = (await KeysClient.AddAsync(hub, "demo", Scope.Send, CancellationToken.None)).Secret!;
        Assert.Equal(202, (await first.SendAsync("POST", "/v1/events", body, credential: key)).Status);
        Assert.Equal(202, (await first.SendAsync("POST", "/v1/events", body, credential: key)).Status);

        var (revoked, failure) = await KeysClient.RevokeAsync(hub, "demo", KeyHash.Of(key).ToId(), CancellationToken.None);

        Assert.Null(failure);
        Assert.Equal(KeyHash.Of(key).ToId(), revoked!.Id);
        Assert.Equal(401, (await first.SendAsync("POST", "/v1/events", body, credential: key)).Status);
        Assert.Equal(202, (await first.SendAsync("POST", "/v1/events", body)).Status);
        await first.Host.DisposeAsync();
        await using var second = await TestHub.StartAsync(first.Folder);
        Assert.Equal(401, (await second.SendAsync("POST", "/v1/events", body, credential: key)).Status);
    }

    [Theory]
    [InlineData("/v1/events", "application/x-ndjson", """{"to":{"user":"x"},"class":"transient"}""", "accepted")]
    [InlineData("/v1/events", "application/json", """[{"to":{"user":"x"},"class":"transient"},""", "accepted")]
    [InlineData("/v1/devices:import", "application/x-ndjson", """{"user":"bea","device":"tablet","platform":"desktop"}""", "imported")]
    public async Task Revoke_UploadUnderWay_TakesNothingMore(string path, string type, string line, string count)
    {
        await using var hub = await TestHub.StartAsync();
        var operations = new OperationsClient(hub.Host.OperationsAddress, hub.Folder);
        var key = (await KeysClient.AddAsync(operations, "demo", Scope.Send | Scope.Admin, CancellationToken.None)).Secret!;
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync($"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\nContent-Type: {type}\r\nTransfer-Encoding: chunked\r\n\r\n");
        await SendChunkAsync(client, line + "\n{}" + (line[0] == '[' ? "," : ""));
        await client.ReceiveUntilAsync(static text => text.Contains("\"problem\"", StringComparison.Ordinal));

        Assert.Null((await KeysClient.RevokeAsync(operations, "demo", KeyHash.Of(key).ToId(), CancellationToken.None)).Failure);
        await SendChunkAsync(client, line.TrimStart('['));
        await client.ReceiveUntilAsync(static text => text.Contains("\"done\"", StringComparison.Ordinal));
        await client.SendAsync("0\r\n\r\n");
        client.EndSending();

        var answer = await client.ReceiveAllAsync();
        Assert.Contains($"{{\"done\":false,\"{count}\":1,", answer, StringComparison.Ordinal);
        Assert.Contains("\"unauthorized\"", answer, StringComparison.Ordinal);
        Assert.Contains("The key is revoked; nothing from index 2 on was taken.", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Revoke_FeedThatIsFollowed_Ends()
    {
        await using var hub = await TestHub.StartAsync();
        var operations = new OperationsClient(hub.Host.OperationsAddress, hub.Folder);
        var key = (await KeysClient.AddAsync(operations, "demo", Scope.Read, CancellationToken.None)).Secret!;
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync($"GET /v1/feed HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n");
        await client.ReceiveUntilAsync(static text => text.Contains("\r\n\r\n", StringComparison.Ordinal));

        Assert.Null((await KeysClient.RevokeAsync(operations, "demo", KeyHash.Of(key).ToId(), CancellationToken.None)).Failure);

        await client.ReceiveUntilAsync(static text => text.EndsWith("0\r\n\r\n", StringComparison.Ordinal)).WaitAsync(TimeSpan.FromSeconds(20));
    }

    [Fact]
    public async Task Commands_AddListRevoke_OnARunningHub()
    {
        await using var hub = await TestHub.StartAsync();
        using var printed = new StringWriter();
        using var complaint = new StringWriter();
        var output = new CommandOutput(printed, complaint);

        Assert.Equal(0, await RunAsync("add", "--scope", "send,read"));
        var id = KeyHash.Of(Take()).ToHex()[..12];
        Assert.Equal(0, await RunAsync("list"));
        Assert.Matches($@"^[0-9a-f]{{12}}  configuration         send,register,read,admin\n{id}  20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  send,read$", Take());
        Assert.Equal(0, await RunAsync("revoke", "--id", id));
        Assert.Equal($"{id} is revoked (send,read)", Take());
        Assert.Equal(1, await RunAsync("revoke", "--id", id));
        Assert.EndsWith($"refused (404): App demo has no key whose id begins with {id}.", complaint.ToString().Trim(), StringComparison.Ordinal);

        Task<int> RunAsync(string verb, params string[] options) => PnhCommandLine.RunAsync(
            ["key", verb, "--app", "demo", .. options, $"--Pnh:Data={hub.Folder}", $"--Pnh:OperationsUrls={hub.Host.OperationsAddress}"],
            HubCommands.Create(output),
            output).WaitAsync(TimeSpan.FromSeconds(20));

        string Take()
        {
            var text = printed.ToString().Trim().ReplaceLineEndings("\n");
            printed.GetStringBuilder().Clear();
            return text;
        }
    }

    private static Task SendChunkAsync(RawClient client, string line) => client.SendAsync($"{line.Length + 1:x}\r\n{line}\n\r\n");

    private sealed class Lines : ILoggerProvider, ILogger
    {
        public ConcurrentQueue<string> Warnings { get; } = new();

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel == LogLevel.Warning;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (logLevel == LogLevel.Warning)
            {
                Warnings.Enqueue(formatter(state, exception));
            }
        }

        public void Dispose()
        {
        }
    }
}
