using System.Security.Cryptography;
using System.Text;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Api.Access;
using Pnh.Api.Configuration;
using Pnh.Api.Problems;
using Pnh.Channels.Links;
using Pnh.Core.Diagnostics;

namespace Pnh.Api.Listeners;

/// <summary>
/// <c>/v1/link</c> and <c>/v1/tee</c> at <c>Pnh:Cluster:Urls</c>: takes an edge or a tee that has the cluster's key, and hands its link on. A server of its own: it opens before anything else does, so that a hub knows the sessions of its
/// edges before it decides about events of its previous process; and no publisher's or operator's connection counts with those of edges.
/// </summary>
internal sealed class LinkListener : IAsyncDisposable
{
    private const int LeastConnections = 16;
    private const int MostConnections = 512;
    private static readonly TimeSpan HeadersTimeout = TimeSpan.FromSeconds(10);
    private readonly WebApplication _app;
    private readonly LinkServer _links;
    private readonly TeeServer _tees;
    private readonly (ClusterKey Key, byte[] Hash)[] _keys;
    private readonly bool _isPlain;

    // A quarter of what the listener takes; behind the key there is always room for edges.
    private readonly StrangerPlaces _strangers = new(MostOpen() / 4, TimeProvider.System);

    /// <param name="options">Addresses and keys; at least one of each.</param>
    /// <param name="links">Serves links.</param>
    /// <param name="tees">Serves tees.</param>
    /// <param name="configuration">Of the program: certificates.</param>
    /// <param name="log">Of the program.</param>
    public LinkListener(ClusterOptions options, LinkServer links, TeeServer tees, IConfiguration configuration, ILoggerFactory log)
    {
        _links = links;
        _tees = tees;
        _keys = [.. options.Keys.Select(static key => (key, SHA256.HashData(Encoding.ASCII.GetBytes(key.Secret))))];
        _isPlain = options.IsPlain;
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Configuration.AddConfiguration(configuration);
        builder.Services.AddSingleton(log).AddSingleton<IHostLifetime, PartLifetime>().AddSingleton(TimeProvider.System).AddSingleton<ListenerCertificate>();

        // Nothing of a link blocks: what it writes leaves in the thread that wrote it, where a thread of the pool would have to wake up first.
        builder.WebHost.ConfigureKestrel(kestrel => Configure(kestrel, options, _strangers)).UseSockets(static sockets => sockets.UnsafePreferInlineScheduling = true);
        _app = builder.Build();
        _app.UseWebSockets();
        _app.Run(ServeAsync);
    }

    /// <summary>Its first address, the port resolved. After <see cref="StartAsync"/>.</summary>
    public Uri Address => NodeAddress.Of(_app, 0);

    /// <summary>Listens. Throws as every listener does.</summary>
    public Task StartAsync(CancellationToken cancellationToken) => _app.StartAsync(cancellationToken);

    /// <summary>Says goodbye to all edges, and listens no more.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        _links.Stop();
        _tees.Stop();
        await _app.StopAsync(cancellationToken);
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        _links.Stop();
        _tees.Stop();
        return _app.DisposeAsync();
    }

    private static int MostOpen() => Math.Clamp(OpenFiles.Limit() / 16, LeastConnections, MostConnections);

    private static void Configure(KestrelServerOptions kestrel, ClusterOptions options, StrangerPlaces strangers)
    {
        kestrel.AddServerHeader = false;
        kestrel.Limits.RequestHeadersTimeout = HeadersTimeout;
        kestrel.Limits.MaxRequestBodySize = 0;
        kestrel.Limits.MaxConcurrentConnections = kestrel.Limits.MaxConcurrentUpgradedConnections = MostOpen();
        foreach (var address in options.Urls)
        {
            void Listen(ListenOptions listen)
            {
                listen.Protocols = HttpProtocols.Http1;
                strangers.Guard(listen);
                if (address.IsHttps)
                {
                    ListenerBinding.UseHttps(listen, address);
                }
            }

            ListenerBinding.Bind(kestrel, address, static (host, port) => new(host, port), Listen);
        }
    }

    private async Task ServeAsync(HttpContext context)
    {
        var isTee = context.Request.Path == ClusterOptions.TeePath;
        if (!isTee && context.Request.Path != ClusterOptions.LinkPath)
        {
            await StaticProblem.NotFound.WriteAsync(context);
            return;
        }

        var peer = context.Connection.RemoteIpAddress?.ToString() ?? "unknown";
        if (Find(BearerCredential.Read(context.Request.Headers.Authorization)) is not { } key)
        {
            _links.Refusals.Note(peer, new("wrong-key", "It does not have the cluster's key."));
            context.Response.Headers.WWWAuthenticate = "Bearer";
            context.Response.Headers.Connection = "close";
            await new Problem(ProblemCatalogue.Unauthorized, "This is not the cluster's key.").ExecuteAsync(context);
            return;
        }

        StrangerPlaces.Know(context);
        if (!context.WebSockets.IsWebSocketRequest)
        {
            context.Response.Headers.Upgrade = "websocket";
            await new Problem(ProblemCatalogue.BadRequest, "This address takes WebSocket connections only.").ExecuteAsync(context);
            return;
        }

        // The framework's keep-alive is off: a ping would wait behind megabytes, and the link has beats of its own.
        using var socket = await context.WebSockets.AcceptWebSocketAsync(new WebSocketAcceptContext { KeepAliveInterval = TimeSpan.Zero });
        await (isTee ? _tees.RunAsync(socket, peer) : _links.RunAsync(socket, peer, key.Name, _isPlain && !context.Request.IsHttps));
    }

    // Hashes of one length, compared in a time that does not depend on them; all keys always. Null = it is none of them.
    private ClusterKey? Find(ReadOnlySpan<char> credential)
    {
        Span<byte> shown = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(Encoding.UTF8.GetBytes(credential.ToArray()), shown);
        ClusterKey? found = null;
        foreach (var (key, hash) in _keys)
        {
            found = CryptographicOperations.FixedTimeEquals(hash, shown) ? key : found;
        }

        return found;
    }

    /// <summary>It starts and stops with the hub, and hears no signals.</summary>
    private sealed class PartLifetime : IHostLifetime
    {
        public Task WaitForStartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
