using Microsoft.AspNetCore.Http;
using Pnh.Api.Operations;
using Pnh.Api.Tests.FrontDoor;

namespace Pnh.Api.Tests.Endpoints;

public sealed class ReadinessTests
{
    [Fact]
    public async Task StoreClosedForGood_IsNeitherReadyNorHealthyAndNamesTheFile()
    {
        var damaged = false;
        var readiness = new Readiness(("registry", "registry.db", static () => false), ("journal", "journal", () => damaged)) { IsReady = true };
        await using var host = await ApiHost.StartAsync(app => app.MapOperations(readiness, Prometheus.Metrics.NewCustomRegistry(), static _ => true));
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(20));
        using var client = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        Assert.Equal(((200, "ok\n"), (200, "ok\n")), (await GetAsync("healthz"), await GetAsync("readyz")));

        damaged = true;
        var (health, ready) = (await GetAsync("healthz"), await GetAsync("readyz"));
        Assert.Equal((StatusCodes.Status503ServiceUnavailable, StatusCodes.Status503ServiceUnavailable), (health.Status, ready.Status));
        Assert.StartsWith("journal is closed ", health.Body, StringComparison.Ordinal);
        Assert.StartsWith("not ready: journal is closed ", ready.Body, StringComparison.Ordinal);

        // A drain is no reason to be killed.
        (damaged, readiness.IsReady) = (false, false);
        Assert.Equal((200, 503), ((await GetAsync("healthz")).Status, (await GetAsync("readyz")).Status));

        async Task<(int Status, string Body)> GetAsync(string path)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri($"http://127.0.0.1:{host.Public}/{path}"));
            using var answer = await client.SendAsync(request, patience.Token);
            return ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync(patience.Token));
        }
    }
}
