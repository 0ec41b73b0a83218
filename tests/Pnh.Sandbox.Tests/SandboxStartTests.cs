using System.Net;
using System.Net.Sockets;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Sandbox.Tests;

public sealed class SandboxStartTests : IDisposable
{
    private readonly string _folder = SandboxUnderTest.NewFolder();

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(true, "APNs stand-in")]
    [InlineData(false, "FCM stand-in")]
    public async Task Start_PortInUse_OneLineWithThePort(bool apns, string name)
    {
        using TcpListener other = new(IPAddress.Loopback, 0);
        other.Start();
        int taken = ((IPEndPoint)other.LocalEndpoint).Port;

        SandboxException e = await Assert.ThrowsAsync<SandboxException>(() => SandboxUnderTest.StartAsync(options =>
        {
            options.ApnsPort = apns ? taken : 0;
            options.FcmPort = apns ? 0 : taken;
        }, _folder));

        Assert.Equal($"Port {taken} ({name}) is in use: stop the other program or choose another port.", e.Message);
    }

    [Fact]
    public async Task Start_ImpossibleOptions_AllErrorsAtOnce()
    {
        SandboxException e = await Assert.ThrowsAsync<SandboxException>(() => SandboxUnderTest.StartAsync(options =>
        {
            options.ApnsPort = 70_000;
            options.FcmStreams = 0;
        }, _folder));

        Assert.Equal("The sandbox's options are wrong: ApnsPort must be 0 to 65535; FcmStreams must be positive.", e.Message);
    }

    [Fact]
    public async Task Start_FolderIsAFile_OneLine()
    {
        string file = Path.Combine(_folder, "file");
        await File.WriteAllTextAsync(file, "");

        SandboxException e = await Assert.ThrowsAsync<SandboxException>(() => SandboxUnderTest.StartAsync(folder: Path.Combine(file, "sandbox")));

        Assert.StartsWith($"The folder {file}", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
    }

    [Fact]
    public async Task Program_UntilCancelled_PrintsConfigurationAndEndsWithZero()
    {
        using CancellationTokenSource stop = new(SandboxUnderTest.Patience);
        StringWriter output = new();

        Task<int> running = SandboxProgram.RunAsync(Options(0), TextWriter.Synchronized(output), stop.Token);
        await Waiting.UntilAsync(() => output.ToString().Contains("Fcm__0__BaseAddress", StringComparison.Ordinal));
        await stop.CancelAsync();

        Assert.Equal(0, await running);
        string printed = output.ToString();
        string account = Path.Combine(_folder, "service-account.json");
        Assert.Contains($"Pnh__Apps__demo__Fcm__0__ServiceAccountFile='{account}'", printed, StringComparison.Ordinal);
        Assert.Contains($"Pnh__Apps__demo__WebPush__0__KeyFile='{Path.Combine(_folder, "vapid.pem")}'", printed, StringComparison.Ordinal);
        Assert.Contains("Pnh__Apps__demo__WebPush__0__AllowedHosts=localhost:", printed, StringComparison.Ordinal);
        Assert.Contains("SSL_CERT_FILE='" + Path.Combine(_folder, "ca.pem"), printed, StringComparison.Ordinal);
        Assert.Contains("Pnh__Apps__demo__Apns__0__TeamId=", printed, StringComparison.Ordinal);
        Assert.DoesNotContain("PRIVATE KEY", printed, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Program_PortInUse_OneLineAndOne()
    {
        using TcpListener other = new(IPAddress.Loopback, 0);
        other.Start();
        StringWriter output = new();

        int code = await SandboxProgram.RunAsync(Options(((IPEndPoint)other.LocalEndpoint).Port), output, CancellationToken.None);

        Assert.Equal(1, code);
        Assert.Single(output.ToString().Trim().Split('\n'));
        Assert.Contains("is in use", output.ToString(), StringComparison.Ordinal);
    }

    private SandboxOptions Options(int apnsPort) => new() { Folder = _folder, ApnsPort = apnsPort, FcmPort = 0 };
}
