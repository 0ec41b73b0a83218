using System.Security.Cryptography;
using Pnh.Api.Tests.EndToEnd;
using Pnh.TestKit;
using static Pnh.Api.Tests.Commands.CommandRun;

namespace Pnh.Api.Tests.Commands;

/// <summary><c>pnh config</c>.</summary>
public sealed class ConfigCommandsTests
{
    private static readonly string Folder = Path.Combine(Path.GetTempPath(), "pnh-never-made");

    [Fact]
    public async Task Check_GoodConfiguration_SaysSoAndOpensNothing()
    {
        Assert.Equal((0, "the configuration is good\n", ""), await RunAsync("config", "check", $"--Pnh:Data={Folder}"));
        Assert.False(Directory.Exists(Folder));
    }

    [Fact]
    public async Task Check_SeveralErrors_NamesThemAll()
    {
        var (exitCode, _, errors) = await RunAsync(
            "config", "check", "--Pnh:Urls=ftp://x", "--Pnh:Mailbox:Items=0", "--Pnh:Colour=blue", "--Pnh:Apps:demo:Keys:0:Secret=0123456789abcdef", "--Pnh:Apps:demo:Keys:0:Scopes=send",
            "--Pnh:Apps:demo:Apns:0:KeyFile=nowhere.p8");
        Assert.Equal(2, exitCode);
        Assert.All(["Pnh:Urls", "Pnh:Mailbox:Items", "Pnh:Colour", "Pnh:Apps:demo:Apns:0:KeyFile"], key => Assert.Contains(key, errors, StringComparison.Ordinal));
    }

    [Fact]
    public async Task Check_WhatAStartOnlyWarnsOf_IsAnError()
    {
        using var folder = new TemporaryFolder();
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var file = Path.Combine(folder.FullPath, "vapid.pem");
        await File.WriteAllTextAsync(file, key.ExportPkcs8PrivateKeyPem());
        string[] settings =
        [
            $"--Pnh:Data={Folder}", "--Pnh:Apps:web:Keys:0:Secret=0123456789abcdef", "--Pnh:Apps:web:Keys:0:Scopes=send",
            "--Pnh:Apps:web:WebPush:0:Subject=mailto:ops@localhost", $"--Pnh:Apps:web:WebPush:0:KeyFile={file}",
        ];

        var check = await RunAsync(["config", "check", .. settings]);
        Assert.Equal(2, check.ExitCode);
        Assert.Contains("Pnh:Apps:web:WebPush:0:Subject", check.Error, StringComparison.Ordinal);
        Assert.Contains("Apple refuses each push", check.Error, StringComparison.Ordinal);
        Assert.Equal(2, (await RunAsync(["doctor", .. settings])).ExitCode);

        await using var hub = await TestHub.StartAsync(null, null, settings[1..]);
        Assert.Equal(200, (await hub.SendAsync("GET", "/readyz", operations: true)).Status);
    }

    [Fact]
    public async Task Check_OfAnEdge_KnowsWhatAnEdgeMayHave()
    {
        var (exitCode, _, errors) = await RunAsync("config", "check", "--role", "edge", "--Pnh:Hubs=http://127.0.0.1:1", "--Pnh:Journal:MaxBytes=1");
        Assert.Equal(2, exitCode);
        Assert.Contains("Pnh:Journal", errors, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Show_WhatIsSet_SaysWhereAndHidesSecrets()
    {
        var (exitCode, text, _) = await RunAsync("config", "show", "--Pnh:Data=here", "--Pnh:Apps:demo:Keys:0:Secret=0123456789abcdef", "--Pnh:Store=sqlite");
        Assert.Equal(0, exitCode);
        Assert.Contains("Pnh:Data = here  (command line)\n", text, StringComparison.Ordinal);
        Assert.Contains("Pnh:Apps:demo:Keys:0:Secret = (hidden)  (command line)\n", text, StringComparison.Ordinal);
        Assert.DoesNotContain("0123456789abcdef", text, StringComparison.Ordinal);
    }
}
