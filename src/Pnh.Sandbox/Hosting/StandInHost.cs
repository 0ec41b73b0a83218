using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Pnh.Sandbox.Contract;

namespace Pnh.Sandbox.Hosting;

/// <summary>One Kestrel on one TLS port. It reads no configuration, writes no log and leaves signals to the program around it.</summary>
internal sealed class StandInHost : IAsyncDisposable
{
    // Far over every real limit, so that a too large payload still gets the provider's own answer.
    private const long MaxBodyBytes = 1 << 20;
    private static readonly TimeSpan ShutdownTimeout = TimeSpan.FromSeconds(2);

    private readonly WebApplication _app;

    private StandInHost(WebApplication app, int port)
    {
        _app = app;
        Address = new Uri($"https://localhost:{port}");
    }

    public Uri Address { get; }

    public static async Task<StandInHost> StartAsync(Settings settings, RequestDelegate handler, CancellationToken cancellationToken)
    {
        WebApplicationBuilder builder = WebApplication.CreateEmptyBuilder(new WebApplicationOptions());
        builder.Services.AddSingleton<IHostLifetime, EmbeddedLifetime>();
        builder.Services.Configure<HostOptions>(host => host.ShutdownTimeout = ShutdownTimeout);
        builder.WebHost.UseKestrelCore().ConfigureKestrel(kestrel => Configure(kestrel, settings));
        WebApplication app = builder.Build();
        app.Run(handler);
        try
        {
            await app.StartAsync(cancellationToken);
            return new StandInHost(app, new Uri(app.Urls.First().Replace("[::]", "localhost", StringComparison.Ordinal)).Port);
        }
        catch (Exception e) when (e is IOException or SocketException)
        {
            await app.DisposeAsync();
            string why = e.InnerException is AddressInUseException ? "is in use: stop the other program or choose another port"
                : $"cannot be opened: {e.Message}";
            throw new SandboxException($"Port {settings.Port} ({settings.Name}) {why}.", e);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _app.StopAsync();
        await _app.DisposeAsync();
    }

    private static void Configure(KestrelServerOptions kestrel, Settings settings)
    {
        kestrel.AddServerHeader = false;
        kestrel.Limits.MaxRequestBodySize = MaxBodyBytes;

        // Kestrel would refuse on its own, uncounted, what we want to count: its limit is only a fence behind ours.
        kestrel.Limits.Http2.MaxStreamsPerConnection = settings.KestrelStreams;
        if (settings.ListenAddress is { } address)
        {
            kestrel.Listen(address, settings.Port, Listen);
        }
        else if (settings.Port == 0)
        {
            // One free port for both families cannot be asked for.
            kestrel.Listen(IPAddress.Loopback, 0, Listen);
        }
        else
        {
            kestrel.ListenLocalhost(settings.Port, Listen);
        }

        void Listen(ListenOptions listen)
        {
            listen.Protocols = settings.Protocols;
            listen.UseHttps(new HttpsConnectionAdapterOptions { ServerCertificate = settings.Certificate });
            listen.Use(settings.ConnectionMiddleware);
        }
    }

    /// <summary>What differs between the stand-ins.</summary>
    internal sealed record Settings(
        string Name,
        int Port,
        IPAddress? ListenAddress,
        X509Certificate2 Certificate,
        HttpProtocols Protocols,
        int KestrelStreams,
        Func<ConnectionDelegate, ConnectionDelegate> ConnectionMiddleware);

    // The default lifetime would stop the sandbox on SIGTERM while the hub around it still drains.
    private sealed class EmbeddedLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
