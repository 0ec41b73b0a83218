using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.Ingest;
using Pnh.Core.Diagnostics;
using Pnh.Core.Hubs;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>Intake where it hurts: text that is none, streams of nothing but refusals, a hub that goes.</summary>
public sealed class IntakeTests : IAsyncLifetime
{
    private TestHub _hub = null!;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Theory]
    [InlineData("""{"platform":"ios","apns":{"token":"\ud800"}}""", "/apns")]
    [InlineData("""{"platform":"android","fcm":{"\ud800":"x"}}""", "/fcm")]
    public async Task Device_HalfASurrogatePair_IsAFieldError(string body, string pointer)
    {
        var answer = await _hub.SendAsync("PUT", "/v1/users/bea/devices/phone", body);

        Assert.Equal((400, "invalid-body"), (answer.Status, answer.Code));
        Assert.Equal([pointer], answer.Pointers);
    }

    [Theory]
    [InlineData("/v1/events", "application/x-ndjson")]
    [InlineData("/v1/events", "application/json")]
    [InlineData("/v1/devices:import", "application/x-ndjson")]
    public async Task Stream_OfRefusals_EndsAfterTenThousand(string path, string type)
    {
        var items = Enumerable.Repeat("7", 12_000);
        var body = type == "application/json" ? $"[{string.Join(',', items)}]" : string.Join('\n', items);

        var answer = await _hub.SendAsync("POST", path, body, type);

        var end = answer.Lines[^1];
        Assert.False(end.GetProperty("done").GetBoolean());
        Assert.Equal("too-many-refusals", end.GetProperty("problem").GetProperty("code").GetString());

        // An import writes 64 at a time.
        Assert.InRange(end.GetProperty("refused").GetInt32(), 10_000, 10_063);
        Assert.Equal(end.GetProperty("refused").GetInt32() + 1, answer.Lines.Length);
    }

    [Theory]
    [InlineData("application/x-ndjson")]
    [InlineData("application/json")]
    public async Task Stream_LargerThanAnyOtherBody_IsTaken(string type)
    {
        var items = Enumerable.Repeat($$"""{"to":{"user":"ada"},"class":"transient","data":"{{new string('x', 50_000)}}"}""", 50);
        var body = type == "application/json" ? $"[{string.Join(',', items)}]" : string.Join('\n', items);

        var answer = await _hub.SendAsync("POST", "/v1/events", body, type);

        Assert.Equal((207, 50), (answer.Status, answer.Lines[^1].GetProperty("accepted").GetInt32()));
    }

    [Theory]
    [InlineData("/v1/events")]
    [InlineData("/v1/devices:import")]
    public async Task Stream_OnlyARefusalSoFar_IsAnsweredBeforeTheEnd(string path)
    {
        var answer = await ExchangeAsync(path, "Transfer-Encoding: chunked\r\n", "4\r\nbad\n\r\n", "malformed-body");

        Assert.Contains("\"index\":0", answer, StringComparison.Ordinal);
    }

    /// <summary>nginx no longer passes a body on when its answer begins.</summary>
    [Theory]
    [InlineData("Content-Length: 60\r\n", "{0}{1}")]
    [InlineData("X-Forwarded-For: 192.0.2.1\r\nTransfer-Encoding: chunked\r\n", "1e\r\n{0}\r\n1e\r\n{1}\r\n0\r\n\r\n")]
    public async Task Upload_OfKnownLengthOrThroughAProxy_IsAnsweredAtItsEnd(string headers, string body)
    {
        var whole = string.Format(CultureInfo.InvariantCulture, body, "bad" + new string(' ', 26) + "\n", "bad" + new string(' ', 26) + "\n");
        using var client = await RawClient.ConnectAsync(_hub.Host.PublicAddress.Port);
        await client.SendAsync($"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_hub.Key}\r\nContent-Type: application/x-ndjson\r\n{headers}\r\n{whole[..40]}");
        var metrics = _hub.Host.Services.GetRequiredService<HubMetrics>();
        while (metrics.Snapshot().Events.All(static e => e.Result != EventResult.Invalid))
        {
            await Task.Delay(10);
        }

        await Task.Delay(100); // a line that were not held back would be here
        Assert.Equal(0, client.Available);
        await client.SendAsync(whole[40..]);
        await client.ReceiveUntilAsync(static text => text.Contains("\"refused\":2", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("/v1/events")]
    [InlineData("/v1/devices:import")]
    public async Task Stream_WithContentEncoding_IsRefused(string path)
    {
        var answer = await ExchangeAsync(path, "Content-Encoding: br\r\nContent-Length: 4\r\n", "bad\n", "\r\n\r\n");

        Assert.StartsWith("HTTP/1.1 415 ", answer, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Explain_InvalidBody_IsNotCountedAsAnEvent()
    {
        var metrics = _hub.Host.Services.GetRequiredService<HubMetrics>();

        Assert.Equal(400, (await _hub.SendAsync("POST", "/v1/events:explain", "{}")).Status);
        Assert.DoesNotContain(metrics.Snapshot().Events, static e => e.Result == EventResult.Invalid);
        Assert.Equal(400, (await _hub.SendAsync("POST", "/v1/events", "{}")).Status);
        Assert.Equal(1, Assert.Single(metrics.Snapshot().Events, static e => e.Result == EventResult.Invalid).Count);
    }

    [Fact]
    public async Task Event_HubStops_IsAnsweredShuttingDown()
    {
        await _hub.Host.Services.GetRequiredService<Hub>().StopAsync(CancellationToken.None);

        var answer = await _hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"}}""");

        Assert.Equal((503, "shutting-down"), (answer.Status, answer.Code));
        Assert.True(answer.RetryAfter > TimeSpan.Zero);
    }

    /// <summary>Posts NDJSON by hand and reads until the answer holds <paramref name="until"/>.</summary>
    private async Task<string> ExchangeAsync(string path, string headers, string body, string until)
    {
        // Less than the 5 s after which the server gives up a body that stands still, which would also send what was held back.
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(4));
        using var client = new TcpClient();
        await client.ConnectAsync(_hub.Host.PublicAddress.Host, _hub.Host.PublicAddress.Port, patience.Token);
        var stream = client.GetStream();
        await stream.WriteAsync(
            Encoding.ASCII.GetBytes(
                $"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {_hub.Key}\r\nContent-Type: application/x-ndjson\r\n{headers}\r\n{body}"),
            patience.Token);
        var answer = new StringBuilder();
        var buffer = new byte[4096];
        while (!answer.ToString().Contains(until, StringComparison.Ordinal))
        {
            var read = await stream.ReadAsync(buffer, patience.Token);
            Assert.True(read > 0, $"Closed after {answer}");
            answer.Append(Encoding.UTF8.GetString(buffer, 0, read));
        }

        return answer.ToString();
    }
}
