using System.Net;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

/// <summary>
/// A free loopback port, of a real Kestrel or of a socket loop, that hands every upgrade to a <see cref="WebSocketServer"/>.
/// </summary>
internal sealed class SocketHost : IAsyncDisposable
{
    /// <summary>How long any wait may take before the test fails.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(15);

    private readonly CancellationTokenSource _stopping;
    private WebApplication? _kestrel;
    private LoopFront? _loop;

    private SocketHost(RecordingHub hub, ByteLink? bytes, WebSocketServer server, CancellationTokenSource stopping)
    {
        Bytes = bytes;
        Hub = hub;
        Server = server;
        _stopping = stopping;
    }

    public RecordingHub Hub { get; }

    /// <summary>What is between hub and sockets; null = nothing.</summary>
    public ByteLink? Bytes { get; }

    public WebSocketServer Server { get; }

    /// <summary>What an Authorization header would have said.</summary>
    public ClientIdentity? HeaderIdentity { get; set; }

    public int Port { get; private set; }

    /// <summary>The connection that was upgraded last; of the loop only.</summary>
    public LoopSocket LastSocket => _loop!.Last!;

    public static async Task<SocketHost> StartAsync(
        SocketTransport transport, Action<WebSocketServerOptions>? configure = null, FrameWritten? written = null, bool overBytes = false, TimeProvider? clock = null,
        ILogger<WebSocketServer>? log = null)
    {
        var options = new WebSocketServerOptions { SweepInterval = TimeSpan.FromMilliseconds(50) };
        configure?.Invoke(options);
        var hub = new RecordingHub();
        var bytes = overBytes ? new ByteLink(hub, hub) : null;
        var stopping = new CancellationTokenSource();
        var server = new WebSocketServer(
            bytes?.Edge ?? hub, hub, clock ?? TimeProvider.System, options, log ?? NullLogger<WebSocketServer>.Instance, written, stopping.Token);
        var host = new SocketHost(hub, bytes, server, stopping);
        if (transport == SocketTransport.Framework)
        {
            await host.StartKestrelAsync();
        }
        else
        {
            host._loop = new LoopFront(server, () => hub.Credential(host.HeaderIdentity));
            host.Port = host._loop.Port;
        }

        return host;
    }

    /// <summary>Waits until hub and sockets have heard everything said so far.</summary>
    public Task FlushAsync() => Bytes?.FlushAsync() ?? Task.CompletedTask;

    /// <summary>A client that has said hello, and the session as the hub sees it.</summary>
    public async Task<(SocketClient Client, SessionOpened Opened)> OpenAsync(string device = "tab-1", string token = "ada-token")
    {
        var client = await SocketClient.ConnectAsync(Port);
        await client.HelloAsync(device, token);
        var welcome = await client.ReadAsync("welcome");
        var opened = await Hub.NextOpenedAsync();
        Assert.Equal(opened.Key.Session, welcome.GetProperty("session").GetString());
        return (client, opened);
    }

    /// <summary>Waits until the sums are these.</summary>
    public Task WaitForTotalsAsync(SessionTotals expected) => WaitUntilAsync(_ => expected);

    /// <summary>Waits until the sums are what is made of them: what may be anything is left as it is.</summary>
    public async Task WaitUntilAsync(Func<SessionTotals, SessionTotals> expected)
    {
        using var patience = new CancellationTokenSource(Patience);
        while (Server.CountSessions() is var now && now != expected(now))
        {
            await Task.Delay(20, patience.Token);
        }
    }

    /// <summary>Waits until the hub has heard of the end of all sessions but so many: a session is gone from the sums before the hub is told. One told twice is a fault.</summary>
    public async Task WaitUntilReportedAsync(int alive)
    {
        using var patience = new CancellationTokenSource(Patience);
        await FlushAsync();
        while (Hub.OpenedCount - Hub.ClosedCount != alive)
        {
            await Task.Delay(20, patience.Token);
        }
    }

    public void Stop() => _stopping.Cancel();

    public async ValueTask DisposeAsync()
    {
        await Server.DisposeAsync();
        _loop?.Dispose();
        if (_kestrel is not null)
        {
            await _kestrel.StopAsync();
            await _kestrel.DisposeAsync();
        }

        _stopping.Dispose();
        if (Bytes is not null)
        {
            await Bytes.FlushAsync();
            await Bytes.DisposeAsync();
        }

        Assert.Empty(Hub.Faults);
    }

    private async Task StartKestrelAsync()
    {
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, 0));
        _kestrel = builder.Build();
        _kestrel.Use(CountedUpgrade.Watch());
        _kestrel.UseWebSockets();
        _kestrel.Run(async context =>
        {
            using var socket = await context.WebSockets.AcceptWebSocketAsync(Server.AcceptContext(context.WebSockets.WebSocketRequestedProtocols));
            var peer = new ConnectionPeer(context.Connection.RemoteIpAddress?.ToString(), context.Request.Headers.UserAgent);
            await Server.ServeAsync(socket, Hub.Credential(HeaderIdentity), peer, connection => context.Features.Get<CountedUpgrade>()!.Serves(connection), _stopping.Token);
        });
        await _kestrel.StartAsync();
        var address = _kestrel.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
        Port = new Uri(address).Port;
    }
}
