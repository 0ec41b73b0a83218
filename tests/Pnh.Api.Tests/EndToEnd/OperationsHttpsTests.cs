using System.Net;
using System.Text;
using Pnh.Api.Operations;
using Pnh.Api.WebConsole;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>An operations address with TLS: the commands that ask it, and the console.</summary>
public sealed class OperationsHttpsTests : IDisposable
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);
    private readonly string _folder = Directory.CreateTempSubdirectory("pnh-https-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task Ask_CertificateNotTrusted_OneLineSaysSo()
    {
        using var certificate = TestCertificate.Write(_folder, IPAddress.Loopback);
        await using var hub = await StartAsync();

        var (answer, failure) = await new OperationsClient(hub.Host.OperationsAddress, hub.Folder)
            .AskAsync(HttpMethod.Post, ConsoleLinkEndpoint.Path, body: null, OperationsJson.Default.ConsoleLinkBody, CancellationToken.None)
            .WaitAsync(Patience);

        Assert.Null(answer);
        Assert.StartsWith($"{hub.Host.OperationsAddress} shows no certificate that is both trusted and good for 127.0.0.1 (", failure, StringComparison.Ordinal);
        Assert.Contains("SSL_CERT_FILE", failure, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', failure!);
    }

    [Theory]
    [InlineData("127.0.0.1", 0, "https://127.0.0.1:")]
    [InlineData("127.0.0.2", 1, "RemoteCertificateNameMismatch")]
    public async Task Command_CertificateOfSslCertFile_IsTakenForItsNameOnly(string name, int expected, string said)
    {
        using var certificate = TestCertificate.Write(_folder, IPAddress.Parse(name));
        await using var hub = await StartAsync();

        var (exitCode, line) = await AskForALinkAsync(hub);

        Assert.Equal((expected, true), (exitCode, line.Contains(said, StringComparison.Ordinal)));
        Assert.Equal(expected == 0, line.Contains("/console?ticket=", StringComparison.Ordinal));
    }

    /// <summary>A page that came without TLS is not the console's, though Host and port are.</summary>
    [Theory]
    [InlineData("https", HttpStatusCode.SeeOther)]
    [InlineData("http", HttpStatusCode.Forbidden)]
    public async Task SignIn_OverHttps_TakesItsOwnOriginOnly(string scheme, HttpStatusCode expected)
    {
        using var certificate = TestCertificate.Write(_folder, IPAddress.Loopback);
        await using var hub = await StartAsync();
        using var http = new HttpMessageInvoker(new SocketsHttpHandler
        {
            AllowAutoRedirect = false,
            UseProxy = false,
            SslOptions = { RemoteCertificateValidationCallback = (_, shown, _, _) => TestCertificate.IsSame(shown, certificate) },
        });
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(hub.Host.OperationsAddress, "/console/signin"))
        {
            Content = new StringContent($"key={hub.Host.Start.OperatorSecret}", Encoding.UTF8, "application/x-www-form-urlencoded"),
        };
        request.Headers.Add("Origin", $"{scheme}://{hub.Host.OperationsAddress.Authority}");
        using var patience = new CancellationTokenSource(Patience);
        using var answer = await http.SendAsync(request, patience.Token);

        Assert.Equal(expected, answer.StatusCode);
        Assert.Equal(expected == HttpStatusCode.SeeOther, answer.Headers.TryGetValues("Set-Cookie", out var cookies)
            && cookies.Single().StartsWith($"{ConsoleGate.Cookie}=", StringComparison.Ordinal)
            && cookies.Single().Contains("; secure", StringComparison.OrdinalIgnoreCase));
    }

    private Task<TestHub> StartAsync() =>
        TestHub.StartAsync(configuration: ["--Pnh:OperationsUrls=https://127.0.0.1:0", .. TestCertificate.Tokens(_folder)]);

    /// <summary>By a process of its own: which roots are trusted is asked of the environment once per process.</summary>
    private async Task<(int ExitCode, string Line)> AskForALinkAsync(TestHub hub)
    {
        var (exitCode, said) = await ProgramRun.RunAsync(
            ["console", $"--Pnh:Data={hub.Folder}", $"--Pnh:OperationsUrls={hub.Host.OperationsAddress}"], ("SSL_CERT_FILE", TestCertificate.PemOf(_folder)));
        return (exitCode, Assert.Single(said));
    }
}
