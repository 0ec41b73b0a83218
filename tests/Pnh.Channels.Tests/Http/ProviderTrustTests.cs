using System.Net;
using Pnh.Channels.Http;

namespace Pnh.Channels.Tests.Http;

public sealed class ProviderTrustTests
{
    [Fact]
    public async Task Trust_OriginsAuthority_Connects()
    {
        await using var server = await ProviderStandIn.StartAsync(200);
        var trust = new ProviderTrust();
        trust.Trust(server.Address, TestAuthority.Certificate);

        Assert.Equal(HttpStatusCode.OK, await GetAsync(trust, server.Address));
        Assert.Equal("HTTP/2", server.Requests.Single().Protocol);
    }

    [Fact]
    public async Task Trust_NobodysAuthority_RefusedBySystemTrust()
    {
        await using var server = await ProviderStandIn.StartAsync(200);

        await AssertRefusedAsync(new ProviderTrust(), server);
    }

    [Fact]
    public async Task Trust_OtherPortsAuthority_Refused()
    {
        await using var server = await ProviderStandIn.StartAsync(200);
        var trust = new ProviderTrust();
        trust.Trust(new Uri($"https://localhost:{(server.Address.Port == 1 ? 2 : 1)}"), TestAuthority.Certificate);

        await AssertRefusedAsync(trust, server);
    }

    [Fact]
    public async Task Trust_CertificateOfAnotherAuthority_Refused()
    {
        using var stranger = TestAuthority.CreateAuthority("CN=stranger");
        using var certificate = TestAuthority.Issue(stranger, "localhost");
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200), certificate);
        var trust = new ProviderTrust();
        trust.Trust(server.Address, TestAuthority.Certificate);

        await AssertRefusedAsync(trust, server);
    }

    [Fact]
    public async Task Trust_CertificateForAnotherHost_Refused()
    {
        using var certificate = TestAuthority.Issue(TestAuthority.Certificate, "api.push.example");
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200), certificate);
        var trust = new ProviderTrust();
        trust.Trust(server.Address, TestAuthority.Certificate);

        await AssertRefusedAsync(trust, server);
    }

    private static async Task AssertRefusedAsync(ProviderTrust trust, ProviderStandIn server)
    {
        var error = await Assert.ThrowsAsync<HttpRequestException>(() => GetAsync(trust, server.Address));

        Assert.Equal(HttpRequestError.SecureConnectionError, error.HttpRequestError);
        Assert.Empty(server.Requests);
    }

    private static async Task<HttpStatusCode> GetAsync(ProviderTrust trust, Uri address)
    {
        using var connection = new ProviderConnection(
            new ProviderConnectionOptions
            {
                Origin = address,
                MaxInFlight = 1,
                Lifetime = TimeSpan.FromMinutes(1),
                IdleTimeout = TimeSpan.FromMinutes(1),
                Pings = HttpKeepAlivePingPolicy.WithActiveRequests,
            },
            trust,
            gauges: null);
        using var request = new HttpRequestMessage(HttpMethod.Get, address);
        using var response = await connection.SendAsync(request, CancellationToken.None).WaitAsync(Sample.Limit);
        return response.StatusCode;
    }
}
