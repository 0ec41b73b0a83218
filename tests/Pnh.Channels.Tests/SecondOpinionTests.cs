using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.RegularExpressions;
using Pnh.Channels.Apns;
using Pnh.Channels.Fcm;
using Pnh.Channels.Tests.Apns;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests;

/// <summary>The channels against programs that nobody here wrote.</summary>
public sealed class SecondOpinionTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [RequiresFactAttribute("nghttpd")]
    public async Task Nghttpd_ApnsRequests_ReadAsWeMeantThem()
    {
        using var certificate = TestAuthority.Issue(TestAuthority.Certificate, "localhost");
        File.WriteAllText(PathOf("server.key"), certificate.GetECDsaPrivateKey()?.ExportPkcs8PrivateKeyPem() ?? certificate.GetRSAPrivateKey()!.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(PathOf("server.crt"), certificate.ExportCertificatePem());
        Directory.CreateDirectory(PathOf("3/device"));
        var port = FreePort.Take();
        using var server = Start("stdbuf", $"-oL nghttpd -v -m 7 -d {_folder.FullPath} {port} {PathOf("server.key")} {PathOf("server.crt")}");
        try
        {
            var log = new StringBuilder();
            server.OutputDataReceived += (_, line) => Append(log, line.Data);
            server.BeginOutputReadLine();
            await using var apns = ApnsFixture.At(new Uri($"https://localhost:{port}"), TimeProvider.System);

            await ListeningAsync(port);

            // It has no such file: 404 without Apple's words. What matters is what it says it has read.
            var result = await apns.SendAsync(Sample.Event(TimeProvider.System, notification: new Notification { Title = "Grace" }, collapseKey: "chat-7"));

            Assert.Equal((DeliveryStatus.Unavailable, "http-404"), (result.Status, result.Reason));
            var text = await UntilAsync(log, "END_STREAM");
            Assert.Matches(@":method: POST", text);
            Assert.Matches(@":path: /3/device/0011aabbccddeeff", text);
            Assert.Matches(@":scheme: https", text);
            Assert.Matches($@":authority: localhost:{port}", text);
            Assert.Matches(@"apns-push-type: alert", text);
            Assert.Matches(@"apns-topic: com\.example", text);
            Assert.Matches(@"apns-collapse-id: chat-7", text);
            Assert.Matches(@"apns-priority: 10", text);
            Assert.Matches(@"apns-id: [0-9a-f]{8}-[0-9a-f]{4}-8", text);
            Assert.DoesNotMatch(@"PRIORITY frame", text);
        }
        finally
        {
            server.Kill();
            await server.WaitForExitAsync();
        }
    }

    [RequiresFactAttribute("openssl")]
    public async Task Openssl_ProviderToken_Verified()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        using var credential = new ApnsCredential("TEAM123456", "KEY1234567", ECDsa.Create(key.ExportParameters(true)), TimeProvider.System);
        var token = credential.Authorization!["bearer ".Length..];
        var dot = token.LastIndexOf('.');
        File.WriteAllText(PathOf("signed"), token[..dot]);
        File.WriteAllBytes(PathOf("signature"), Der(System.Buffers.Text.Base64Url.DecodeFromChars(token.AsSpan(dot + 1))));
        File.WriteAllText(PathOf("key.pem"), key.ExportSubjectPublicKeyInfoPem());

        using var openssl = Start("openssl", $"dgst -sha256 -verify {PathOf("key.pem")} -signature {PathOf("signature")} {PathOf("signed")}");

        Assert.Equal("Verified OK\n", await openssl.StandardOutput.ReadToEndAsync());
    }

    [RequiresFactAttribute("openssl")]
    public async Task Openssl_Assertion_Verified()
    {
        using var key = RSA.Create(2048);
        var account = new ServiceAccount("demo", "pnh@demo.example", "key-1", new Uri("https://localhost/token"), key);
        var assertion = FcmAssertion.Create(account, TimeProvider.System.GetUtcNow());
        var dot = assertion.LastIndexOf('.');
        File.WriteAllText(PathOf("signed"), assertion[..dot]);
        File.WriteAllBytes(PathOf("signature"), System.Buffers.Text.Base64Url.DecodeFromChars(assertion.AsSpan(dot + 1)));
        File.WriteAllText(PathOf("key.pem"), key.ExportSubjectPublicKeyInfoPem());

        using var openssl = Start("openssl", $"dgst -sha256 -verify {PathOf("key.pem")} -signature {PathOf("signature")} {PathOf("signed")}");

        Assert.Equal("Verified OK\n", await openssl.StandardOutput.ReadToEndAsync());
    }

    /// <summary>openssl takes a signature as SEQUENCE { r, s } only, where a JWT has r||s.</summary>
    private static byte[] Der(byte[] signature)
    {
        var writer = new System.Formats.Asn1.AsnWriter(System.Formats.Asn1.AsnEncodingRules.DER);
        using (writer.PushSequence())
        {
            writer.WriteIntegerUnsigned(Trim(signature.AsSpan(0, 32)));
            writer.WriteIntegerUnsigned(Trim(signature.AsSpan(32)));
        }

        return writer.Encode();
    }

    private static ReadOnlySpan<byte> Trim(ReadOnlySpan<byte> number) => number.TrimStart((byte)0);

    private static Process Start(string program, string arguments) =>
        Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardOutput = true, RedirectStandardError = false })!;

    private static async Task ListeningAsync(int port)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (true)
        {
            try
            {
                using var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
                await socket.ConnectAsync(IPAddress.Loopback, port);
                return;
            }
            catch (SocketException)
            {
                Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, "nghttpd does not listen");
                await Task.Delay(20);
            }
        }
    }

    private static void Append(StringBuilder log, string? line)
    {
        lock (log)
        {
            // In colour, unless it is asked to be plain in a way that it does not know everywhere.
            log.AppendLine(Regex.Replace(line ?? "", @"\u001b\[[0-9;]*m", ""));
        }
    }

    private static async Task<string> UntilAsync(StringBuilder log, string word)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (true)
        {
            lock (log)
            {
                if (log.ToString() is var text && text.Contains(word, StringComparison.Ordinal))
                {
                    return text;
                }
            }

            Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, $"{word} did not come");
            await Task.Delay(10);
        }
    }

    private string PathOf(string name) => Path.Combine(_folder.FullPath, name);
}
