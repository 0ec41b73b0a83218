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
}
