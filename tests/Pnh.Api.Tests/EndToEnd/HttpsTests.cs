using System.Net;
using System.Net.Http.Headers;
using System.Net.Security;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A public address with TLS, the certificate from Kestrel's own configuration.</summary>
public sealed class HttpsTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private static readonly PbeParameters Encryption = new(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, 1_000);
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-https-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Https_CertificateOfKestrelsKeys_TakesAnEventAndShowsItOnAWss()
    {
        using var certificate = TestCertificate.Write(_folder, IPAddress.Loopback);
        await using var hub = await TestHub.StartAsync(configuration: ["--Pnh:Urls=https://127.0.0.1:0", .. TestCertificate.Tokens(_folder)]);
        Assert.Equal("https", hub.Host.PublicAddress.Scheme);
        using var patience = new CancellationTokenSource(Patience);
        using var socket = new ClientWebSocket();
        // As YARP asks for it: HTTP/2, or what the hub offers.
        (socket.Options.HttpVersion, socket.Options.HttpVersionPolicy) = (HttpVersion.Version20, HttpVersionPolicy.RequestVersionOrLower);
        using var invoker = new HttpMessageInvoker(new SocketsHttpHandler
        {
            UseProxy = false,
            SslOptions = { RemoteCertificateValidationCallback = (_, shown, _, _) => TestCertificate.IsSame(shown, certificate) },
        });
        await socket.ConnectAsync(new UriBuilder(hub.Host.PublicAddress) { Scheme = "wss", Path = "/v1/socket" }.Uri, invoker, patience.Token);
        var hello = JsonSerializer.SerializeToUtf8Bytes(new { type = "hello", token = hub.ClientToken("ada"), device = "tab", state = "active" });
        await socket.SendAsync(hello, WebSocketMessageType.Text, true, patience.Token);
        Assert.Contains("\"welcome\"", await ReceiveAsync(socket, patience.Token), StringComparison.Ordinal);

        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(hub.Host.PublicAddress, "/v1/events"))
        {
            Content = new StringContent("""{"to":{"user":"ada"},"data":7}""", Encoding.UTF8, "application/json"),
        };
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", hub.Key);
        using var answer = await invoker.SendAsync(request, patience.Token);

        Assert.Equal(HttpStatusCode.Accepted, answer.StatusCode);
        Assert.Contains("\"data\":7", await ReceiveAsync(socket, patience.Token), StringComparison.Ordinal);
    }

    /// <summary>A stranger who asks for much over HTTP/2, reads nothing and goes would hold places for ever, with Critical lines, and a browser's sockets would be opened where there are none.</summary>
    [Fact]
    public async Task Https_ClientThatOffersHttp2_IsSpokenToInHttp11()
    {
        using var log = new RecordedLog();
        using var certificate = TestCertificate.Write(_folder, IPAddress.Loopback);
        await using var hub = await TestHub.StartAsync(
            null, null, null, ["--Pnh:Urls=https://127.0.0.1:0", "--Pnh:OperationsUrls=https://127.0.0.1:0", .. TestCertificate.Tokens(_folder)], services => services.AddLogging(logging => logging.AddProvider(log)));
        foreach (var address in new[] { hub.Host.PublicAddress, hub.Host.OperationsAddress })
        {
            Assert.Equal(SslApplicationProtocol.Http11, await NegotiateAsync(address, certificate, SslApplicationProtocol.Http2, SslApplicationProtocol.Http11));
            await Assert.ThrowsAnyAsync<Exception>(() => NegotiateAsync(address, certificate, SslApplicationProtocol.Http2));
        }

        Assert.DoesNotContain(log.Lines, static line => line.Level >= LogLevel.Warning);
    }

    [Theory]
    [InlineData("", "", "https://127.0.0.1:0 has no certificate")]
    [InlineData("no-such.pem", "", "the certificate of https://127.0.0.1:0 cannot be read: ")]
    [InlineData("garbage.pem", "", "the certificate of https://127.0.0.1:0 cannot be read: ")]
    [InlineData("hub.pem", "locked.key", "the certificate of https://127.0.0.1:0 cannot be read: ")]
    [InlineData("hub.pem", "other.key", "the certificate of https://127.0.0.1:0 cannot be read: ")]
    [InlineData("hub.pem", "garbage.pem", "the certificate of https://127.0.0.1:0 cannot be read: ")]
    public async Task Start_HttpsWithoutAUsableCertificate_OneLineThatNamesTheKeys(string certificate, string key, string expected)
    {
        using var written = TestCertificate.Write(_folder, IPAddress.Loopback);
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        await File.WriteAllTextAsync(PathOf("garbage.pem"), "no certificate");
        await File.WriteAllTextAsync(PathOf("other.key"), other.ExportPkcs8PrivateKeyPem());
        await File.WriteAllTextAsync(PathOf("locked.key"), other.ExportEncryptedPkcs8PrivateKeyPem("secret", Encryption));
        string[] given =
        [
            .. certificate.Length == 0 ? [] : new[] { $"--Kestrel:Certificates:Default:Path={PathOf(certificate)}" },
            .. key.Length == 0 ? [] : new[] { $"--Kestrel:Certificates:Default:KeyPath={PathOf(key)}" },
        ];

        // Without a home, so that no development certificate of this machine stands in.
        var (exitCode, said) = await ProgramRun.RunAsync([.. TestHub.Tokens(PathOf("data")), "--Pnh:Urls=https://127.0.0.1:0", .. given], ("HOME", _folder));

        Assert.Equal(1, exitCode);
        Assert.StartsWith("pnh: " + expected, Assert.Single(said), StringComparison.Ordinal);
        Assert.Contains("Kestrel:Certificates:Default:Path", said[0], StringComparison.Ordinal);
    }

    private static async Task<SslApplicationProtocol> NegotiateAsync(Uri address, X509Certificate2 certificate, params SslApplicationProtocol[] offered)
    {
        using var patience = new CancellationTokenSource(Patience);
        using var client = new TcpClient();
        await client.ConnectAsync(address.Host, address.Port, patience.Token);
        await using var tls = new SslStream(client.GetStream(), leaveInnerStreamOpen: true, (_, shown, _, _) => TestCertificate.IsSame(shown, certificate));
        await tls.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = address.Host, ApplicationProtocols = [.. offered] }, patience.Token);
        return tls.NegotiatedApplicationProtocol;
    }

    private static async Task<string> ReceiveAsync(ClientWebSocket socket, CancellationToken cancellationToken)
    {
        var buffer = new byte[64 * 1024];
        var frame = await socket.ReceiveAsync(buffer, cancellationToken);
        return Encoding.UTF8.GetString(buffer, 0, frame.Count);
    }

    private string PathOf(string file) => Path.Combine(_folder, file);
}
