namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What <c>/metrics</c> says before anything was delivered.</summary>
public sealed class FreshMetricsTests
{
    [Theory]
    [InlineData("none", "misconfigured")]
    [InlineData("apns", "misconfigured")]
    [InlineData("fcm", "unavailable")]
    [InlineData("webpush", "rejected")]
    [InlineData("websocket", "sent")]
    public async Task Metrics_NothingDeliveredYet_EveryChannelAndNoneAreThereAtZero(string channel, string status)
    {
        await using var hub = await TestHub.StartAsync();

        var page = (await hub.SendAsync("GET", "/metrics", operations: true)).Body;

        foreach (var @class in new[] { "call", "message", "bulk", "transient" })
        {
            Assert.Contains($"\npnh_deliveries_total{{channel=\"{channel}\",class=\"{@class}\",status=\"{status}\"}} 0\n", page, StringComparison.Ordinal);
        }
    }

    // The first is Prometheus' own.
    [Theory]
    [InlineData("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", "application/openmetrics-text", true)]
    [InlineData("text/plain;version=0.0.4,application/openmetrics-text;q=0.5", "text/plain", false)]
    [InlineData("*/*", "text/plain", false)]
    [InlineData(null, "text/plain", false)]
    [InlineData("nothing of it, \"", "text/plain", false)]
    public async Task Metrics_Accept_ChoosesTheFormat(string? accept, string type, bool hasEnd)
    {
        await using var hub = await TestHub.StartAsync();
        using var client = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(hub.Host.OperationsAddress, "/metrics"));
        if (accept is not null)
        {
            Assert.True(request.Headers.TryAddWithoutValidation("Accept", accept));
        }

        using var answer = await client.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(30));

        var page = await answer.Content.ReadAsStringAsync();
        Assert.Equal((200, type), ((int)answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
        Assert.Equal(hasEnd, page.EndsWith("# EOF\n", StringComparison.Ordinal));
        Assert.Contains("\npnh_ready 1", page, StringComparison.Ordinal);
    }
}
