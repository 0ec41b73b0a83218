using Microsoft.AspNetCore.Http;
using Pnh.Api.Endpoints;
using Pnh.Api.Hosting;
using Pnh.Api.Tests.FrontDoor;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Tests.Endpoints;

public sealed class ReadinessTests
{
    [Fact]
    public async Task Readyz_StoreClosedForGood_Is503AndNamesTheFile()
    {
        var damaged = false;
        var readiness = new Readiness(("registry.db", static () => false), ("journal.db", () => damaged)) { IsReady = true };
        await using var host = await ApiHost.StartAsync(app => app.MapOperations(readiness, new MetricRegistry()));
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        using var client = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        var address = new Uri($"http://127.0.0.1:{host.Public}/readyz");

        using var first = new HttpRequestMessage(HttpMethod.Get, address);
        using var before = await client.SendAsync(first, patience.Token);
        damaged = true;
        using var second = new HttpRequestMessage(HttpMethod.Get, address);
        using var after = await client.SendAsync(second, patience.Token);

        Assert.Equal((StatusCodes.Status200OK, StatusCodes.Status503ServiceUnavailable), ((int)before.StatusCode, (int)after.StatusCode));
        Assert.StartsWith("not ready: journal.db ", await after.Content.ReadAsStringAsync(patience.Token), StringComparison.Ordinal);
    }
}
