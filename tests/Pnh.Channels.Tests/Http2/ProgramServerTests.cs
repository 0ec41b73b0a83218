using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Pnh.Channels.Net.Http2;
using Pnh.Channels.Tests.Http;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Http2;

/// <summary>Servers of other programs: nghttp2's and Node's.</summary>
public sealed class ProgramServerTests
{
    private const string NodeServer = """
        const http2 = require('http2'), fs = require('fs');
        const server = http2.createSecureServer({ cert: fs.readFileSync(process.argv[1]), key: fs.readFileSync(process.argv[2]),
          settings: { headerTableSize: 150, initialWindowSize: 1000, maxConcurrentStreams: 7 } });
        server.on('stream', (stream, headers) => {
          let length = 0;
          stream.on('data', part => length += part.length);
          stream.on('end', () => {
            stream.respond({ ':status': headers[':path'].endsWith('3') ? 410 : 200, 'apns-id': headers['apns-id'], 'x-long': 'y'.repeat(300) });
            stream.end([headers[':path'], headers['authorization'].length, headers['apns-topic'], length].join(' '));
          });
        });
        server.listen(0, '127.0.0.1', () => console.log(server.address().port));
        """;

    [RequiresFactAttribute("node")]
    public async Task SendAsync_ToNodeWithASmallTableAndWindow_ItSeesEveryRequestWhole()
    {
        using var folder = new TemporaryFolder();
        var (certificate, key) = WriteKeys(folder);
        using var server = Start("node", "-e", NodeServer, certificate, key);
        try
        {
            var port = int.Parse((await server.StandardOutput.ReadLineAsync().WaitAsync(Http2Peer.Patience))!, CultureInfo.InvariantCulture);
            await using var connection = await OtherServerTests.DialAsync(new Uri($"https://localhost:{port}"));
            var answers = await Task.WhenAll(Enumerable.Range(0, 500).Select(number => connection.SendAsync($"{number}", new byte[number * 10])));
            for (var number = 0; number < answers.Length; number++)
            {
                Assert.Equal($"{(number % 10 == 3 ? 410 : 200)} /3/device/{number} 207 com.example.app {number * 10}", answers[number]);
            }
        }
        finally
        {
            server.Kill();
        }
    }

    [RequiresFactAttribute("nghttpd")]
    public async Task SendAsync_ToNghttpd_EveryRequestIsAnswered()
    {
        using var folder = new TemporaryFolder();
        var (certificate, key) = WriteKeys(folder);
        await File.WriteAllTextAsync(folder["push"], "pushed");
        var port = FreePort.Take();
        using var server = Start(
            "nghttpd", "--max-concurrent-streams=20", "--header-table-size=128", "--encoder-header-table-size=4096", "--echo-upload",
            $"--htdocs={folder.FullPath}", "-a", "127.0.0.1", $"{port}", key, certificate);
        try
        {
            await using var connection = await DialWhenReadyAsync(new Uri($"https://localhost:{port}"), server);
            var answers = await Task.WhenAll(Enumerable.Range(1, 500).Select(number => connection.SendAsync($"{number}", [.. Enumerable.Repeat((byte)'x', number)])));
            Assert.Equal(Enumerable.Range(1, 500).Select(number => "200 " + new string('x', number)), answers);
        }
        finally
        {
            server.Kill();
        }
    }

    private static (string Certificate, string Key) WriteKeys(TemporaryFolder folder)
    {
        var certificate = folder["cert.pem"];
        var key = folder["key.pem"];
        File.WriteAllText(certificate, TestAuthority.Localhost.ExportCertificatePem());
        using var secret = TestAuthority.Localhost.GetECDsaPrivateKey()!;
        File.WriteAllText(key, secret.ExportPkcs8PrivateKeyPem());
        return (certificate, key);
    }

    private static Process Start(string program, params string[] arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments)
        {
            start.ArgumentList.Add(argument);
        }

        return Process.Start(start)!;
    }

    /// <summary>The program takes no port of its own choice and does not say when it listens.</summary>
    private static async Task<Http2Connection> DialWhenReadyAsync(Uri address, Process server)
    {
        for (var attempt = 0; ; attempt++)
        {
            try
            {
                return await OtherServerTests.DialAsync(address);
            }
            catch (SocketException) when (attempt < 200 && !server.HasExited)
            {
                await Task.Delay(50);
            }
        }
    }
}
