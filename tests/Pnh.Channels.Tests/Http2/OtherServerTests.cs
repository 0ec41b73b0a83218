using System.Globalization;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Tests.Http;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Servers that nobody here wrote, over TLS.</summary>
public sealed class OtherServerTests
{
    [Fact]
    public async Task SendAsync_ToKestrel_ItSeesEveryRequestWhole()
    {
        await using var server = await ProviderStandIn.StartAsync((request, _) => new Reply(
            request.Path.EndsWith('7') ? 410 : 200, $"{request.Path} {request.Headers["apns-id"]} {request.Body.Length}"));
        await using var connection = await DialAsync(server.Address);
        var answers = await Task.WhenAll(Enumerable.Range(0, 1000).Select(async number =>
        {
            using var answer = await connection.SendAsync(
                Pushes.Push(number.ToString(CultureInfo.InvariantCulture), new byte[number % 300]), CancellationToken.None);
            return (answer.Fault, answer.Status, Text: answer.Text());
        })).WaitAsync(Http2Peer.Patience);
        for (var number = 0; number < answers.Length; number++)
        {
            Assert.Equal(
                (SendFault.None, number % 10 == 7 ? 410 : 200, $"/3/device/{number} 4f4e1d3e-6c8e-4d6c-9a3c-1d2e3f405162 {number % 300}"),
                answers[number]);
        }

        Assert.Single(server.Requests.Select(request => request.Connection).Distinct());
        Assert.All(server.Requests, request => Assert.Equal("bearer " + new string('t', 200), request.Headers["authorization"]));
    }

    [Fact]
    public async Task SendAsync_LargeBodiesToKestrel_FollowItsWindows()
    {
        await using var server = await ProviderStandIn.StartAsync((request, _) => new Reply(200, Convert.ToHexString(
            System.Security.Cryptography.SHA256.HashData(request.Body))));
        await using var connection = await DialAsync(server.Address);
        var bodies = Enumerable.Range(1, 8).Select(number => Enumerable.Range(0, number * 150_000).Select(at => (byte)(at * number)).ToArray()).ToArray();
        var answers = await Task.WhenAll(bodies.Select(async body =>
        {
            using var answer = await connection.SendAsync(Pushes.Push(body: body), CancellationToken.None);
            Assert.True(answer.Status == 200, $"{answer.Fault} {connection.Closure}");
            return answer.Text();
        })).WaitAsync(Http2Peer.Patience);
        Assert.Equal(bodies.Select(body => Convert.ToHexString(System.Security.Cryptography.SHA256.HashData(body))), answers);
    }

    [Fact]
    public async Task SendAsync_KestrelAnswersALongBody_ItIsCut()
    {
        await using var server = await ProviderStandIn.StartAsync(503, new string('x', 1_000_000));
        await using var connection = await DialAsync(server.Address);
        for (var i = 0; i < 30; i++)
        {
            using var answer = await connection.SendAsync(Pushes.Push(), CancellationToken.None);
            Assert.Equal((503, ProviderAnswer.MaxBodyBytes), (answer.Status, answer.Body.Length));
        }
    }

    internal static async Task<Http2Connection> DialAsync(Uri address)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(IPAddress.Loopback, address.Port);
        var tls = new SslStream(new NetworkStream(socket, ownsSocket: true));
        await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions
        {
            TargetHost = address.Host,
            ApplicationProtocols = [SslApplicationProtocol.Http2],
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                CustomTrustStore = { TestAuthority.Certificate },
                RevocationMode = X509RevocationMode.NoCheck,
            },
        });
        return Http2Connection.Start(tls, new ConnectionOptions { Origin = address }, new Observed(), TimeProvider.System, Http2Limits.Default);
    }
}
