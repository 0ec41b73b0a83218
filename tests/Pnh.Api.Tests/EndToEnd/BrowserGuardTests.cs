using System.Net;
using System.Net.Http.Headers;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What a browser, or a cache on its way, must not get hold of.</summary>
public sealed class BrowserGuardTests
{
    [Fact]
    public async Task Metrics_HostIsAStrangersName_IsForbidden()
    {
        await using var hub = await TestHub.StartAsync();
        var metrics = new Uri(hub.Host.OperationsAddress, "/metrics");

        using var known = await GetAsync(metrics);
        using var rebound = await GetAsync(metrics, hostName: "evil.example:9090");

        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.Forbidden), (known.StatusCode, rebound.StatusCode));
    }

    [Fact]
    public async Task UserData_EveryAnswer_IsKeptByNoCache()
    {
        await using var hub = await TestHub.StartAsync();
        var token = hub.ClientToken("ada");

        foreach (var path in new[] { "/v1/users/ada", "/v1/users/ada/settings", "/v1/users/ada/devices/none", "/v1/inbox?device=tab" })
        {
            using var answer = await GetAsync(new Uri(hub.Host.PublicAddress, path), token);
            Assert.Equal((path, true), (path, answer.Headers.CacheControl?.NoStore));
        }
    }

    private static async Task<HttpResponseMessage> GetAsync(Uri address, string? credential = null, string? hostName = null)
    {
        using var client = new HttpMessageInvoker(new SocketsHttpHandler { UseProxy = false });
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        request.Headers.Host = hostName;
        request.Headers.Authorization = credential is null ? null : new AuthenticationHeaderValue("Bearer", credential);
        return await client.SendAsync(request, CancellationToken.None).WaitAsync(TimeSpan.FromSeconds(30));
    }
}
