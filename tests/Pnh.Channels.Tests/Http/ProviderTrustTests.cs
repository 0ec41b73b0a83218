using System.Net.Security;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels.Tests.Http;

public sealed class ProviderTrustTests
{
    [Fact]
    public async Task Trust_OriginsAuthority_Connects()
    {
        await using var server = await ProviderStandIn.StartAsync(200);
        var trust = new ProviderTrust();
        trust.Trust(server.Address, TestAuthority.Certificate);

        var result = await DialAsync(trust, server);

        Assert.Null(result.Fault);
        Assert.Equal(SslApplicationProtocol.Http2, result.Stream!.NegotiatedApplicationProtocol);
        await result.Stream.DisposeAsync();
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
        var result = await DialAsync(trust, server);

        Assert.Equal(("tls-failed", null), (result.Fault, result.Stream));
    }

    private static Task<DialResult> DialAsync(ProviderTrust trust, ProviderStandIn server) =>
        new ProviderDial(server.Address, trust, TimeProvider.System).ConnectAsync(CancellationToken.None).WaitAsync(Sample.Limit);
}
