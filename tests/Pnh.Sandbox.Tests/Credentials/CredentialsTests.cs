using System.Runtime.Versioning;
using System.Security.Cryptography.X509Certificates;
using System.Text.Json;
using System.Text.RegularExpressions;
using Pnh.Sandbox.Contract;
using Pnh.Sandbox.Credentials;
using Pnh.Sandbox.Tests.Apns;
using Pnh.Sandbox.Tests.Fcm;

namespace Pnh.Sandbox.Tests.Credentials;

[UnsupportedOSPlatform("windows")]
public sealed partial class CredentialsTests : IDisposable
{
    private readonly string _folder = SandboxUnderTest.NewFolder();

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public async Task FirstUse_Files_ShapesAndModes()
    {
        await using SandboxUnderTest sandbox = await StartAsync();
        SandboxCredentials made = sandbox.Server.Credentials;

        Assert.Matches(TenCharacters(), made.TeamId);
        Assert.Matches(TenCharacters(), made.KeyId);
        Assert.Equal($"AuthKey_{made.KeyId}.p8", Path.GetFileName(made.KeyFile));
        Assert.StartsWith("-----BEGIN PRIVATE KEY-----", await File.ReadAllTextAsync(made.KeyFile), StringComparison.Ordinal);
        Assert.Equal(256, sandbox.ApnsKey.KeySize);
        Assert.Equal(2048, sandbox.AccountKey.KeySize);
        Assert.Equal("service_account", sandbox.Account.GetProperty("type").GetString());
        Assert.Equal(new Uri(sandbox.Server.FcmAddress, "/token").AbsoluteUri, sandbox.Account.GetProperty("token_uri").GetString());
        Assert.DoesNotContain("PRIVATE", await File.ReadAllTextAsync(made.CaFile), StringComparison.Ordinal);
        Assert.False(made.CaCertificate.HasPrivateKey);
        string[] files = Directory.GetFiles(_folder);
        Assert.Equal(7, files.Length);
        Assert.All(files, file => Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file)));
    }

    [Fact]
    public async Task Restart_OtherPort_KeysKeptTokenUriMoved()
    {
        string firstUri;
        string keyBefore;
        byte[] caBefore;
        await using (SandboxUnderTest first = await StartAsync())
        {
            firstUri = first.Account.GetProperty("token_uri").GetString()!;
            keyBefore = await File.ReadAllTextAsync(first.Server.Credentials.KeyFile);
            caBefore = first.Server.CaCertificate.RawData;
        }

        await using SandboxUnderTest second = await StartAsync();

        Assert.Equal(keyBefore, await File.ReadAllTextAsync(second.Server.Credentials.KeyFile));
        Assert.Equal(caBefore, second.Server.CaCertificate.RawData);
        Assert.NotEqual(firstUri, second.Account.GetProperty("token_uri").GetString());
        Assert.Equal(200, (await new ApnsCaller(second).SendAsync()).Status);
        Assert.Equal(200, (await new FcmCaller(second).SendToAsync("a")).Status);
    }

    [Fact]
    public async Task Restart_OpenMode_ClosedAgain()
    {
        await using (await StartAsync())
        {
        }

        string file = Path.Combine(_folder, "service-account.json");
        File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.OtherRead);
        await using SandboxUnderTest second = await StartAsync();

        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(file));
    }

    [Theory]
    [InlineData("server.pem", "rubbish")]
    [InlineData("server.pem", "")]
    [InlineData("apns.json", "{\"team_id\":1}")]
    [InlineData("apns.json", "{")]
    [InlineData("AuthKey_*.p8", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----")]
    [InlineData("service-account.json", "{\"type\":\"service_account\"}")]
    [InlineData("service-account.json", "null")]
    [InlineData("vapid.pem", "rubbish")]
    [InlineData("browsers.secret", "")]
    [InlineData("browsers.secret", "AAAA")]
    public async Task Damaged_File_OneLineThatNamesIt(string pattern, string content)
    {
        await using (await StartAsync())
        {
        }

        string file = Directory.GetFiles(_folder, pattern).Single();
        await File.WriteAllTextAsync(file, content);

        SandboxException e = await Assert.ThrowsAsync<SandboxException>(StartAsync);

        Assert.StartsWith(file + " is damaged.", e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', e.Message);
    }

    [Fact]
    public async Task ServerCertificate_Names_ForLocalhostInEveryForm()
    {
        await using SandboxUnderTest sandbox = await StartAsync();
        X509Certificate2 server = X509Certificate2.CreateFromPem(await File.ReadAllTextAsync(Path.Combine(_folder, "server.pem")));

        Assert.All(["localhost", "127.0.0.1", "::1"], name => Assert.True(server.MatchesHostname(name)));
        Assert.False(server.MatchesHostname("example.org"));
    }

    [Fact]
    public async Task ServiceAccount_AsJson_HasNoMemberForNothing()
    {
        await using SandboxUnderTest sandbox = await StartAsync();

        Assert.All(sandbox.Account.EnumerateObject(), member =>
        {
            Assert.Equal(JsonValueKind.String, member.Value.ValueKind);
            Assert.NotEqual("", member.Value.GetString());
        });
    }

    private Task<SandboxUnderTest> StartAsync() => SandboxUnderTest.StartAsync(folder: _folder);

    [GeneratedRegex("^[A-Z0-9]{10}$")]
    private static partial Regex TenCharacters();
}
