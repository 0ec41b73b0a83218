using Pnh.Channels.Http;
using Pnh.Core.Deliveries;

namespace Pnh.Channels.Tests.Http;

public class NetworkFaultTests
{
    [Fact]
    public async Task ToResult_ConnectionReplacedUnderTheRequest_IsAConnectFaultThatIsSafeToRetry()
    {
        using var connection = new ProviderConnection(Options(), new ProviderTrust(), gauges: null);
        var picked = (HttpMessageInvoker)connection.Current;
        connection.Recycle(picked);
        using var request = new HttpRequestMessage(HttpMethod.Post, "https://localhost:1/");

        var fault = await Assert.ThrowsAsync<ObjectDisposedException>(() => picked.SendAsync(request, CancellationToken.None));

        Assert.True(NetworkFault.IsSafeToRetry(fault));
        Assert.Equal(DeliveryResult.Of(DeliveryStatus.Unavailable, "connect-failed"), NetworkFault.ToResult(fault));
    }

    [Fact]
    public void ToResult_AnythingElseDisposed_IsABug()
    {
        var bug = new ObjectDisposedException("RSA");
        Assert.False(NetworkFault.IsSafeToRetry(bug));
        Assert.Null(NetworkFault.ToResult(bug));
    }

    private static ProviderConnectionOptions Options() => new()
    {
        Origin = new Uri("https://localhost:1"),
        MaxInFlight = 1,
        Lifetime = TimeSpan.FromMinutes(1),
        IdleTimeout = TimeSpan.FromMinutes(1),
        Pings = HttpKeepAlivePingPolicy.WithActiveRequests,
    };
}
