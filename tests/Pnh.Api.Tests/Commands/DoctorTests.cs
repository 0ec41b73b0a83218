using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Configuration;
using Pnh.Api.Doctor;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;

namespace Pnh.Api.Tests.Commands;

/// <summary><c>pnh doctor</c>: what is well, what is not, and the cure.</summary>
public sealed class DoctorTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Doctor_NothingWrong_SaysSoOfEachAndExitsWith0()
    {
        var (exitCode, text, complaint) = await RunAsync();

        Assert.Equal((0, ""), (exitCode, complaint));
        Assert.Contains("ok    configuration  good\n", text, StringComparison.Ordinal);
        Assert.Contains("data does not exist yet", text, StringComparison.Ordinal);
        Assert.Matches(@"(ok|look)\s+disk sync\s+\d+\.\d\d ms in the middle of 20", text);
        Assert.Contains("is free\n", text, StringComparison.Ordinal);
        Assert.Empty(Directory.GetFileSystemEntries(_folder.FullPath));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Doctor_PortOfAHub_IsGoodWhenItHasTheDataFolder(bool isOwn)
    {
        await using var hub = await TestHub.StartAsync();

        string[] own = isOwn ? [$"--Pnh:Data={hub.Host.Start.Folder.FolderPath}"] : [];
        var (exitCode, text, _) = await RunAsync([$"--Pnh:Urls=http://127.0.0.1:{hub.Host.PublicAddress.Port}", "--json", .. own]);

        Assert.Equal(isOwn ? 0 : 1, exitCode);
        Assert.Contains($"\"text\":\"http://127.0.0.1:{hub.Host.PublicAddress.Port}/: {(isOwn ? "a hub is running\"" : "another hub, with another data folder, holds the port")}", text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Doctor_PortThatIsTakenAndDoesNotAnswer_IsBad()
    {
        using var silent = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        silent.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        silent.Listen();
        var port = ((IPEndPoint)silent.LocalEndPoint!).Port;
        silent.Close(0);
        using var bound = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        bound.Bind(new IPEndPoint(IPAddress.Loopback, port));
        bound.Listen();

        var free = await RunAsync("--Pnh:Urls=http://192.0.2.1:7");
        Assert.Contains("cannot be opened (AddressNotAvailable)", free.Out, StringComparison.Ordinal);
        var (exitCode, text, _) = await RunAsync($"--Pnh:Urls=http://127.0.0.1:{port}");
        Assert.Equal(1, exitCode);
        Assert.Contains($"bad   public         http://127.0.0.1:{port}/: another program holds the port", text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(20, 0, "ok    certificate")]
    [InlineData(1, 0, "look  certificate")]
    [InlineData(-1, 1, "bad   certificate")]
    public async Task Doctor_CertificateOfTheListeners_SaysHowLongItHolds(int days, int exitCode, string word)
    {
        WriteCertificate(days);
        var (code, text, _) = await RunAsync([.. Https()]);
        Assert.Equal(exitCode, code);
        Assert.Contains(word, text, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("cert.pem", "does not exist")]
    [InlineData("key.pem", "does not exist")]
    [InlineData("other", "cannot be used")]
    public async Task Doctor_CertificateFileIsMissingOrNone_IsRefusedAsByConfigCheck(string what, string words)
    {
        WriteCertificate(20);
        if (what == "other")
        {
            await File.WriteAllTextAsync(_folder["cert.pem"], "no certificate");
        }
        else
        {
            File.Delete(_folder[what]);
        }

        foreach (var command in new[] { "doctor", "config check" })
        {
            var (exitCode, _, complaint) = await CommandRun.RunAsync([.. command.Split(' '), $"--Pnh:Data={_folder["data"]}", .. Https()]);
            Assert.Equal(2, exitCode);
            Assert.Contains("Kestrel:Certificates:Default:Path", complaint, StringComparison.Ordinal);
            Assert.Contains(words, complaint, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData("--Pnh:Sockets:MaxConnections=10000000", 1, "bad   open files")]
    [InlineData("--Pnh:Sockets:MaxConnections=100", 0, "ok    open files")]
    public async Task Doctor_FilesBesideConnections_AreCompared(string setting, int exitCode, string word)
    {
        var (code, text, _) = await RunAsync(setting);
        Assert.Equal(exitCode, code);
        Assert.Contains(word, text, StringComparison.Ordinal);
    }

    [Fact]
    public void Look_CertificateOfAnAccount_SaysHowLongItHolds()
    {
        WriteCertificate(1);
        var configuration = new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?> { ["Pnh:Apps:shop:Apns:0:CertificateFile"] = _folder["cert.pem"] }).Build();
        var found = KeyCheck.Look(configuration.GetSection("Pnh"), TimeProvider.System).ToList();
        Assert.Contains(found, static one => one.Grade == Grade.Doubtful && one.Text.Contains("holds for 1 more days", StringComparison.Ordinal));
    }

    [Fact]
    public async Task Doctor_PortOfAnotherProgram_IsBad()
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        var port = ((IPEndPoint)other.LocalEndpoint).Port;
        _ = AnswerAsync(other);

        var (exitCode, text, _) = await RunAsync($"--Pnh:Urls=http://127.0.0.1:{port}");

        Assert.Equal(1, exitCode);
        Assert.Contains($"bad   public         http://127.0.0.1:{port}/: another program holds the port", text, StringComparison.Ordinal);
    }

    [Fact]
    [System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
    public void Look_KeyFiles_SaysHowOldTheyAreAndWhoReadsThem()
    {
        foreach (var (name, days) in new[] { ("apns.p8", 400), ("vapid.pem", 400), ("fcm.json", 3), ("open.p8", 3) })
        {
            File.WriteAllText(_folder[name], "x");
            File.SetLastWriteTimeUtc(_folder[name], TimeProvider.System.GetUtcNow().UtcDateTime.AddDays(-days));
            File.SetUnixFileMode(_folder[name], name == "open.p8" ? UnixFileMode.UserRead | UnixFileMode.OtherRead : UnixFileMode.UserRead | UnixFileMode.GroupRead);
        }

        var configuration = new ConfigurationBuilder().AddInMemoryCollection(new Dictionary<string, string?>
        {
            ["Pnh:Apps:shop:Apns:0:KeyFile"] = _folder["apns.p8"],
            ["Pnh:Apps:shop:Apns:1:KeyFile"] = _folder["open.p8"],
            ["Pnh:Apps:shop:Apns:2:KeyFile"] = _folder["missing.p8"],
            ["Pnh:Apps:shop:Fcm:0:ServiceAccountFile"] = _folder["fcm.json"],
            ["Pnh:Apps:shop:WebPush:0:KeyFile"] = _folder["vapid.pem"],
        }).Build();

        var found = KeyCheck.Look(configuration.GetSection("Pnh"), TimeProvider.System).ToDictionary(static one => one.Text.Split(' ')[0]);

        Assert.Equal(4, found.Count);
        Assert.Equal(Grade.Good, found[_folder["fcm.json"]].Grade);
        Assert.EndsWith("is 3 days old", found[_folder["fcm.json"]].Text, StringComparison.Ordinal);
        Assert.Equal((Grade.Doubtful, true), (found[_folder["apns.p8"]].Grade, found[_folder["apns.p8"]].Text.Contains("400 days old: make a new key at Apple; put its file and its KeyId", StringComparison.Ordinal)));
        Assert.Equal((Grade.Doubtful, true), (found[_folder["open.p8"]].Grade, found[_folder["open.p8"]].Text.Contains("chmod o-rwx", StringComparison.Ordinal)));

        // Each subscription is made for it.
        Assert.Equal(Grade.Good, found[_folder["vapid.pem"]].Grade);
    }

    [Fact]
    public async Task Doctor_ProviderNotReachedOrNotTrusted_IsBadWithTheReason()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        await File.WriteAllTextAsync(_folder["key.p8"], key.ExportPkcs8PrivateKeyPem());
        string[] account =
        [
            "--Pnh:Apps:shop:Tokens:Hs256Secret=0123456789abcdef0123456789abcdef", "--Pnh:Apps:shop:Apns:0:TeamId=ABCDEFGHIJ", "--Pnh:Apps:shop:Apns:0:KeyId=ABCDEFGHIJ",
            $"--Pnh:Apps:shop:Apns:0:KeyFile={_folder["key.p8"]}", "--Pnh:Apps:shop:Apns:0:Topic=com.example.shop",
        ];

        var closed = await RunAsync([.. account, "--Pnh:Apps:shop:Apns:0:BaseAddress=https://127.0.0.1:1"]);
        Assert.Equal(1, closed.ExitCode);
        Assert.Contains("bad   apns           https://127.0.0.1:1/ is not reached: ", closed.Out, StringComparison.Ordinal);

        await using var hub = await TestHub.StartAsync();
        var foreign = await RunAsync([.. account, $"--Pnh:Apps:shop:Apns:0:BaseAddress={hub.Host.Start.Sandbox!.ApnsAddress}"]);
        Assert.Equal(1, foreign.ExitCode);
        Assert.Contains("certificate", foreign.Out, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Doctor_WrongConfiguration_NamesItAndExitsWith2()
    {
        var (exitCode, _, complaint) = await RunAsync("--Pnh:Journal:Retention=soon");

        Assert.Equal(2, exitCode);
        Assert.Contains("Pnh:Journal:Retention", complaint, StringComparison.Ordinal);
    }

    private void WriteCertificate(int days)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var now = TimeProvider.System.GetUtcNow();
        using var certificate = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256).CreateSelfSigned(now.AddDays(-30), now.AddDays(days));
        File.WriteAllText(_folder["cert.pem"], certificate.ExportCertificatePem());
        File.WriteAllText(_folder["key.pem"], key.ExportPkcs8PrivateKeyPem());
    }

    private string[] Https() =>
    [
        "--Pnh:Urls=https://127.0.0.1:1", "--Pnh:OperationsUrls=http://127.0.0.1:2",
        $"--Kestrel:Certificates:Default:Path={_folder["cert.pem"]}", $"--Kestrel:Certificates:Default:KeyPath={_folder["key.pem"]}",
    ];

    private static async Task AnswerAsync(TcpListener listener)
    {
        try
        {
            while (true)
            {
                using var accepted = await listener.AcceptTcpClientAsync();
                await accepted.GetStream().WriteAsync("220 mail.example.com\r\n"u8.ToArray());
            }
        }
        catch (Exception end) when (end is SocketException or ObjectDisposedException or IOException)
        {
            // The test is over.
        }
    }

    private Task<(int ExitCode, string Out, string Error)> RunAsync(params string[] more) =>
        CommandRun.RunAsync(["doctor", $"--Pnh:Data={_folder["data"]}", "--Pnh:Urls=http://127.0.0.1:1", "--Pnh:OperationsUrls=http://127.0.0.1:2", .. more]);
}
