using System.Net;
using System.Net.Sockets;
using Pnh.Api.Configuration;
using Pnh.Api.Hosting;
using Pnh.Storage.Files;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>What keeps a hub from starting: each a clear line that says what to do.</summary>
public sealed class StartFaultTests
{
    [Fact]
    public async Task Start_FolderOfAnotherHub_IsRefused()
    {
        await using var first = await TestHub.StartAsync();

        var fault = await Assert.ThrowsAsync<DataFolderException>(() => TestHub.StartAsync(first.Folder));

        Assert.Contains(first.Folder, fault.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', fault.Message);
    }

    [Fact]
    public async Task Start_PortInUse_IsRefused()
    {
        using var taken = new TcpListener(IPAddress.Loopback, 0);
        taken.Start();
        var port = ((IPEndPoint)taken.LocalEndpoint).Port;

        var fault = await Assert.ThrowsAsync<IOException>(() => TestHub.StartAsync(configuration: $"--Pnh:Urls=http://127.0.0.1:{port}"));

        Assert.Contains(port.ToString(System.Globalization.CultureInfo.InvariantCulture), fault.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Start_SeveralConfigurationErrors_AreReportedTogether()
    {
        var folder = Directory.CreateTempSubdirectory("pnh-").FullName;
        var errors = new ConfigurationErrors();
        string[] wrong =
        [
            .. TestHub.Tokens(folder), "--Pnh:Store=oracle", "--Pnh:Colour=red", "--Pnh:Apps:shop:Keys:0:Scopes=fly",
            "--Pnh:Apps:shop:Apns:0:TeamId=x", "--Pnh:Classes:call:Ttl=soon",
        ];

        var host = await HubHost.BuildAsync(wrong, errors, TestHub.Quiet, default);

        Assert.Null(host);
        Assert.Equal(
            ["Pnh:Apps:shop:Keys:0", "Pnh:Classes:call:Ttl", "Pnh:Colour", "Pnh:Store"],
            errors.All.Select(static e => e.Path.StartsWith("Pnh:Apps:shop:Keys:0", StringComparison.Ordinal) ? "Pnh:Apps:shop:Keys:0" : e.Path)
                .Distinct().Where(static p => !p.Contains("Apns", StringComparison.Ordinal)).Order(StringComparer.Ordinal));
        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task Start_ConfiguredApps_HasNoDemoAndNoSandbox()
    {
        await using var hub = await TestHub.StartAsync(configuration: ["--Pnh:Apps:shop:Keys:0:Secret=0123456789abcdef0123456789abcdef", "--Pnh:Apps:shop:Keys:0:Scopes=send register"]);

        Assert.Null(hub.Host.Start.DemoKey);
        Assert.Null(hub.Host.Start.Sandbox);
        await hub.SendAsync("PUT", "/v1/users/u/devices/d", """{"platform":"android","fcm":{"token":"t"}}""", credential: "0123456789abcdef0123456789abcdef");
        Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"u"},"class":"call"}""", credential: "0123456789abcdef0123456789abcdef")).Status);
    }
}
