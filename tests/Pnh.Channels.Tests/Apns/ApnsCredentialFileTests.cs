using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Tests.Http;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Apns;

/// <summary>Keys and certificates that change under a running hub.</summary>
public sealed class ApnsCredentialFileTests
{
    private static readonly Notification Hello = new() { Title = "Grace" };

    [Fact]
    public async Task KeyFile_ReplacedByGarbage_OldKeyStaysAndItIsCounted()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        await apns.SendAsync(Sample.Event(time, notification: Hello));

        apns.WriteKey("-----BEGIN PRIVATE KEY-----\ngarbage\n-----END PRIVATE KEY-----");
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "refused") == 1);

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"))).Status);
        Assert.Single(apns.Server.Requests.Select(request => request.Headers["authorization"]).Distinct());
        Assert.Single(apns.Server.Requests.Select(request => request.Connection).Distinct());
    }

    [Fact]
    public async Task KeyFile_ReplacedByAnotherKey_NewTokenOnNewConnectionsOnly()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        await apns.SendAsync(Sample.Event(time, notification: Hello));
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);

        apns.WriteKey(other.ExportPkcs8PrivateKeyPem());
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "taken") == 1);
        await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"));

        var (first, second) = (apns.Server.Requests[0], apns.Server.Requests[1]);
        Assert.NotEqual(first.Connection, second.Connection);
        Assert.True(IsSignedBy(second, other));
    }

    [Fact]
    public async Task KeyFile_ReplacedWhileARequestWaitsForItsPlace_NewConnectionSeesTheNewKeyOnly()
    {
        var time = new FakeTimeProvider();
        var gate = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var apns = await ApnsFixture.StartAsync((_, n) => n == 0 ? new Reply(200, Gate: gate.Task) : new Reply(200), time);
        var first = apns.SendAsync(Sample.Event(time, notification: Hello));
        await UntilAsync(time, () => apns.Server.Requests.Count == 1, TimeSpan.Zero);

        // The connection is cold: one request at a time, until it has answered.
        var second = apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"));
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        apns.Take(other);

        Assert.Equal(DeliveryStatus.Accepted, (await second).Status);
        gate.SetResult();
        Assert.Equal(DeliveryStatus.Accepted, (await first).Status);
        Assert.NotEqual(apns.Server.Requests[0].Connection, apns.Server.Requests[1].Connection);
        Assert.NotEqual(apns.Server.Requests[0].Headers["authorization"], apns.Server.Requests[1].Headers["authorization"]);
    }

    /// <summary>As when a new key is put into the file and its id is forgotten; then the old key is revoked, and the new one is put right at Apple.</summary>
    [Fact]
    public async Task KeyFile_NewKeyIsRefused_TheOneBeforeIsUsedWhileItIsAccepted()
    {
        var time = new FakeTimeProvider();
        using var fresh = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var refusesFresh = true;
        await using var apns = await ApnsFixture.StartAsync(
            (request, _) => IsSignedBy(request, fresh) == refusesFresh ? new Reply(403, """{"reason":"InvalidProviderToken"}""") : new Reply(200), time);
        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello))).Status);
        apns.WriteKey(fresh.ExportPkcs8PrivateKeyPem());
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "taken") == 1);

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"))).Status);
        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-3"))).Status);
        Assert.Equal([false, true, false, false], apns.Server.Requests.Select(request => IsSignedBy(request, fresh)));

        refusesFresh = false;
        time.Advance(ConfigurationStop.Pause);
        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-4"))).Status);

        // The new one was taken: there is no way back any more.
        refusesFresh = true;
        time.Advance(2 * ConfigurationStop.Pause);
        Assert.Equal(DeliveryStatus.Misconfigured, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-5"))).Status);
        Assert.Equal([false, true, true], apns.Server.Requests.Skip(4).Select(request => IsSignedBy(request, fresh)));
    }

    [Fact]
    public async Task KeyFile_Gone_OldKeyStays()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);

        apns.DeleteKey();
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "refused") == 1);

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello))).Status);
    }

    /// <summary>As Apple's keys are rotated: the new one has an id and a file of its own.</summary>
    [Fact]
    public async Task KeyIdAndKeyFile_ChangedInTheConfiguration_InUseWithoutARestart()
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        await apns.SendAsync(Sample.Event(time, notification: Hello));
        using var other = ECDsa.Create(ECCurve.NamedCurves.nistP256);

        apns.Configure("Apps:demo:Apns:0:KeyId", "NEWKEY7890");
        apns.Configure("Apps:demo:Apns:0:KeyFile", apns.Write("new.p8", other.ExportPkcs8PrivateKeyPem()));
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "taken") == 1);
        await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"));

        var token = apns.Server.Requests[1].Headers["authorization"]["bearer ".Length..];
        Assert.Contains("\"kid\":\"NEWKEY7890\"", Encoding.ASCII.GetString(System.Buffers.Text.Base64Url.DecodeFromChars(token.AsSpan(0, token.IndexOf('.')))), StringComparison.Ordinal);
        Assert.True(IsSignedBy(apns.Server.Requests[1], other));
        Assert.NotEqual(apns.Server.Requests[0].Connection, apns.Server.Requests[1].Connection);
    }

    [Theory]
    [InlineData("KeyId", "short")]
    [InlineData("KeyFile", "nowhere.p8")]
    public async Task Configuration_ChangedToNonsense_OldKeyStaysAndItIsCounted(string key, string value)
    {
        var time = new FakeTimeProvider();
        await using var apns = await ApnsFixture.StartAsync((_, _) => new Reply(200), time);
        await apns.SendAsync(Sample.Event(time, notification: Hello));

        apns.Configure($"Apps:demo:Apns:0:{key}", value);
        await UntilAsync(time, () => Read(apns.Gauges, ProviderReading.CredentialReloads, "refused") == 1);

        Assert.Equal(DeliveryStatus.Accepted, (await apns.SendAsync(Sample.Event(time, notification: Hello, id: "event-2"))).Status);
        Assert.Single(apns.Server.Requests.Select(request => request.Headers["authorization"]).Distinct());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task CertificateFile_Set_ShownOnTheConnectionAndNoToken(bool pkcs12)
    {
        using var certificate = Certificate("CN=Apple Push Services: com.example", days: 20);
        await using var server = await ProviderStandIn.StartAsync((_, _) => new Reply(200), asksForCertificate: true);
        await using var host = Host(server, pkcs12
            ? certificate.Export(X509ContentType.Pkcs12, "secret")
            : Encoding.ASCII.GetBytes(certificate.ExportCertificatePem() + "\n" + certificate.GetECDsaPrivateKey()!.ExportPkcs8PrivateKeyPem()), pkcs12 ? "secret" : null);
        host.Trust(server.Address);
        await using var sender = host.Channel("apns").Open("demo/0", EventClass.Message);

        var result = await sender.SendAsync(
            Sample.Delivery(Sample.Event(TimeProvider.System, notification: Hello), ApnsFixture.Address()), CancellationToken.None).AsTask().WaitAsync(Sample.Limit);

        Assert.Equal(DeliveryStatus.Accepted, result.Status);
        var request = Assert.Single(server.Requests);
        Assert.Equal(certificate.Thumbprint, request.Certificate);
        Assert.DoesNotContain("authorization", request.Headers.Keys);
        Assert.Equal("com.example", request.Headers["apns-topic"]);
        var left = TimeSpan.FromSeconds(Read(host.Gauges("apns"), ProviderReading.CredentialSecondsLeft, "demo/0"));
        Assert.InRange(left.TotalDays, 18.5, 20.5);
    }

    [Fact]
    public async Task CertificateFile_BesideAKeyOrPast_SaidAtStart()
    {
        using var past = Certificate("CN=past", days: -1);
        await using var server = await ProviderStandIn.StartAsync(200);
        await using var host = Host(server, past.Export(X509ContentType.Pkcs12, (string?)null), null, new() { ["Apps:demo:Apns:0:KeyId"] = "KEY1234567" });

        Assert.Equal(
            [
                "Pnh:Apps:demo:Apns:0:KeyId: an account has a key or a certificate, not both",
                "Pnh:Apps:demo:Apns:0:CertificateFile: the certificate has expired",
            ],
            host.Check());
    }

    private static bool IsSignedBy(Received request, ECDsa key)
    {
        var token = request.Headers["authorization"]["bearer ".Length..];
        var dot = token.LastIndexOf('.');
        return key.VerifyData(Encoding.ASCII.GetBytes(token[..dot]), System.Buffers.Text.Base64Url.DecodeFromChars(token.AsSpan(dot + 1)), HashAlgorithmName.SHA256);
    }

    private static ChannelHost Host(ProviderStandIn server, byte[] file, string? password, Dictionary<string, string?>? more = null)
    {
        Dictionary<string, string?> settings = new(more ?? [])
        {
            ["Apps:demo:Apns:0:CertificateFile"] = "push.p12",
            ["Apps:demo:Apns:0:CertificatePassword"] = password,
            ["Apps:demo:Apns:0:Topic"] = "com.example",
            ["Apps:demo:Apns:0:BaseAddress"] = server.Address.AbsoluteUri,
        };
        return new ChannelHost(TimeProvider.System, settings, binaries: new() { ["push.p12"] = file });
    }

    private static X509Certificate2 Certificate(string name, int days)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = TimeProvider.System.GetUtcNow();
        return new CertificateRequest(name, key, HashAlgorithmName.SHA256).CreateSelfSigned(now.AddDays(-10), now.AddDays(days));
    }

    private static double Read(ProviderGauges gauges, ProviderReading reading, string label) =>
        gauges.Readings.Single(one => one.Reading == reading && one.Label == label).Read();

    private static async Task UntilAsync(FakeTimeProvider time, Func<bool> condition, TimeSpan? step = null)
    {
        var start = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(start) < Sample.Limit, "condition not reached");
            time.Advance(step ?? TimeSpan.FromSeconds(1));
            await Task.Delay(5);
        }
    }
}
