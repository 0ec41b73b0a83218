using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using Pnh.Sandbox.Contract;
using Pnh.TestKit;

namespace Pnh.Sandbox.Tests;

/// <summary>A sandbox on free ports in a folder of its own, with a clock that stands still, and callers that know its keys from its files.</summary>
public sealed class SandboxUnderTest : IAsyncDisposable
{
    // Only a fence against hanging: a build beside the tests may take the machine for many seconds.
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(90);

    private readonly ConcurrentDictionary<DateTimeOffset, string> _providerTokens = new();
    private readonly Lazy<HttpMessageInvoker> _google;
    private readonly bool _ownsFolder;

    private SandboxUnderTest(SandboxServer server, FakeTimeProvider clock, bool ownsFolder)
    {
        Server = server;
        Clock = clock;
        _google = new Lazy<HttpMessageInvoker>(NewCaller);
        _ownsFolder = ownsFolder;
        ApnsKey = ECDsa.Create();
        ApnsKey.ImportFromPem(File.ReadAllText(server.Credentials.KeyFile));
        Account = JsonDocument.Parse(File.ReadAllText(server.Credentials.ServiceAccountFile)).RootElement;
        AccountKey = RSA.Create();
        AccountKey.ImportFromPem(Account.GetProperty("private_key").GetString());
    }

    public SandboxServer Server { get; }

    public FakeTimeProvider Clock { get; }

    public DateTimeOffset Now => Clock.GetUtcNow();

    public ECDsa ApnsKey { get; }

    public RSA AccountKey { get; }

    public JsonElement Account { get; }

    public string Project => Server.Credentials.ProjectId;

    public static async Task<SandboxUnderTest> StartAsync(Action<SandboxOptions>? configure = null, string? folder = null)
    {
        FakeTimeProvider clock = new();
        SandboxOptions options = new()
        {
            Folder = folder ?? NewFolder(),
            ApnsPort = 0,
            FcmPort = 0,
            TimeProvider = clock,
        };
        configure?.Invoke(options);
        using CancellationTokenSource timeout = new(Patience);
        return new SandboxUnderTest(await SandboxServer.StartAsync(options, timeout.Token), clock, folder is null);
    }

    public static string NewFolder() => Directory.CreateTempSubdirectory("pnh-sandbox-").FullName;

    /// <summary>A caller with connections of its own: one, as long as its requests come one after the other.</summary>
    internal HttpMessageInvoker NewCaller()
    {
        SocketsHttpHandler handler = new()
        {
            SslOptions = new SslClientAuthenticationOptions
            {
                CertificateChainPolicy = new X509ChainPolicy
                {
                    TrustMode = X509ChainTrustMode.CustomRootTrust,
                    CustomTrustStore = { Server.CaCertificate },
                    RevocationMode = X509RevocationMode.NoCheck,
                },
            },
        };
        return new HttpMessageInvoker(handler);
    }

    /// <summary>The provider token of an age: the same text each time, as a sender keeps it. Signing anew would be an update.</summary>
    internal string ProviderToken(TimeSpan age = default) => _providerTokens.GetOrAdd(Now - age,
        issuedAt => Jwt.Es256(ApnsKey, Server.Credentials.KeyId, Server.Credentials.TeamId, issuedAt));

    internal async Task<Answer> SendAsync(HttpRequestMessage request, HttpMessageInvoker? caller = null, Version? version = null)
    {
        using CancellationTokenSource timeout = new(Patience);

        // APNs holds things against a connection, so each push gets its own; Google does not.
        bool google = request.RequestUri!.Port == Server.FcmAddress.Port;
        using HttpMessageInvoker? own = caller is null && !google ? NewCaller() : null;
        request.Version = version ?? HttpVersion.Version20;
        request.VersionPolicy = HttpVersionPolicy.RequestVersionExact;
        using (request)
        {
            using HttpResponseMessage response = await (caller ?? own ?? _google.Value).SendAsync(request, timeout.Token);
            return await Answer.ReadAsync(response, timeout.Token);
        }
    }

    internal static ByteArrayContent Json(string body)
    {
        ByteArrayContent content = new(Encoding.UTF8.GetBytes(body));
        content.Headers.ContentType = new("application/json");
        return content;
    }

    public async ValueTask DisposeAsync()
    {
        if (_google.IsValueCreated)
        {
            _google.Value.Dispose();
        }

        await Server.DisposeAsync();
        ApnsKey.Dispose();
        AccountKey.Dispose();
        if (_ownsFolder)
        {
            Directory.Delete(Server.Credentials.Folder, recursive: true);
        }
    }
}
