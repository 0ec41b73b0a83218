using System.Collections.Concurrent;
using System.Net;
using System.Net.WebSockets;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Links;
using Pnh.Channels.Links.Protocol;
using Pnh.Channels.Tests.Http;
using Pnh.Channels.Tests.WebSockets;
using Pnh.Core.Sessions;
using Pnh.Core.Timing;
using Pnh.TestKit;

namespace Pnh.Channels.Tests.Links;

/// <summary>A hub that listens for links on a loopback port, over and over on the same one.</summary>
internal sealed class LinkScene : IAsyncDisposable
{
    private readonly LogLines _log = new();
    private WebApplication? _kestrel;
    private int _port;

    public RecordingHub Hub { get; } = new();

    public ConcurrentQueue<string> Refusals { get; } = new();

    /// <summary>How long sessions of a broken link wait at the hub.</summary>
    public TimeSpan Linger { get; set; } = TimeSpan.FromMinutes(1);

    /// <summary>Name of the key that all who link have shown.</summary>
    public string? KeyName { get; set; }

    /// <summary>True when links go over plain HTTP.</summary>
    public bool TakesWord { get; set; }

    public LinkServer Links { get; private set; } = null!;

    public TeeServer Tees { get; private set; } = null!;

    public string[] Lines(string eventName) => _log.Of(eventName);

    public Uri Address => new($"ws://127.0.0.1:{_port}/v1/link");

    public Uri TeeAddress => new($"ws://127.0.0.1:{_port}/v1/tee");

    public static LinkHello Edge(string node = "edge-1", long incarnation = 1, int place = 0, string cluster = "", int version = LinkHello.Version) =>
        new(Math.Min(version, LinkHello.OldestVersion), version, node, incarnation, place, cluster, 0, ["demo"]);

    /// <summary>The passes of all hubs of these tests.</summary>
    public static SessionPasses PassesOf(RecordingHub hub) => new(new byte[SessionPasses.KeyBytes], hub, TimeProvider.System);

    /// <summary>A pass with which the session may join every topic.</summary>
    public static ReadOnlyMemory<byte> PassOf(SessionKey key, TimeSpan? lifetime = null) =>
        PassesOf(new RecordingHub()).Admit(key, RecordingHub.Identity(key.User, lifetime: lifetime) with { Topics = ["*"] }).Proof;

    public static EdgeSessions Sessions() => new([new EdgeLink(new Turns(TimeProvider.System), TimeProvider.System)], TimeProvider.System);

    public static async Task<LinkScene> StartAsync(TimeSpan? linger = null)
    {
        var scene = new LinkScene { Linger = linger ?? TimeSpan.FromMinutes(1) };
        await scene.StartHubAsync();
        return scene;
    }

    public async Task StartHubAsync(string cluster = "c-1", int version = LinkHello.Version)
    {
        var self = Edge("hub", cluster: cluster, version: version) with { Apps = ["demo", "other"] };
        Links = new LinkServer(Hub, self, PassesOf(Hub), TimeProvider.System, new Logger<LinkServer>(_log), Linger);
        Tees = new TeeServer(self, Links.Refusals, TimeProvider.System, new Logger<TeeServer>(_log));
        Links.Refusals.Counted = Refusals.Enqueue;
        Links.Start.Recovered();
        var builder = WebApplication.CreateSlimBuilder(["--hostBuilder:reloadConfigOnChange=false"]);
        builder.Logging.ClearProviders();
        builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(IPAddress.Loopback, _port));
        _kestrel = builder.Build();
        _kestrel.UseWebSockets();
        _kestrel.Run(async context =>
        {
            using var socket = await context.WebSockets.AcceptWebSocketAsync();
            await (context.Request.Path == "/v1/tee" ? Tees.RunAsync(socket, "peer") : Links.RunAsync(socket, "peer", KeyName, TakesWord));
        });
        await _kestrel.StartAsync();
        _port = new Uri(_kestrel.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single()).Port;
    }

    public async Task StopHubAsync()
    {
        Links.Stop();
        Tees.Stop();
        if (_kestrel is { } kestrel)
        {
            _kestrel = null;
            await kestrel.StopAsync();
            await kestrel.DisposeAsync();
        }
    }

    /// <summary>Links an edge with these sessions.</summary>
    public async Task<LinkDialler> LinkAsync(EdgeSessions sessions, TimeSpan? wait = null, Func<NodeStatus>? status = null)
    {
        var dialler = new LinkDialler([Address], "key", Edge(), sessions, wait ?? TimeSpan.FromSeconds(30), TimeProvider.System, new Logger<LinkDialler>(_log), status);
        dialler.Start();
        await Waiting.UntilAsync(() => sessions.IsLinked);
        return dialler;
    }

    /// <summary>A connection that says what the test says.</summary>
    public async Task<ClientWebSocket> ConnectAsync(Uri? address = null)
    {
        var socket = new ClientWebSocket();
        socket.Options.KeepAliveInterval = TimeSpan.Zero;
        await socket.ConnectAsync(address ?? Address, CancellationToken.None).WaitAsync(SocketHost.Patience);
        return socket;
    }

    /// <summary>The same, with a hello; and what the hub said to it: an item and its first members.</summary>
    public async Task<(ClientWebSocket Socket, LinkItemKind Kind, string First)> GreetAsync(LinkHello edge, Uri? address = null)
    {
        var socket = await ConnectAsync(address);
        await SendAsync(socket, output => edge.Write(output));
        LinkItemKind kind;
        ReadOnlyMemory<byte> members;
        do
        {
            // On a busy machine a beat comes before the answer.
            ReadOnlyMemory<byte> batch = await ReadAsync(socket);
            Assert.True(LinkReader.TryTake(ref batch, out kind, out members));
        }
        while (kind == LinkItemKind.Beat);
        return (socket, kind, kind == LinkItemKind.Hello ? LinkHello.Read(members).Node : new LinkReader(members.Span).Text());
    }

    /// <summary>Says a new session, number 1 of the link.</summary>
    public static void Open(LinkQueue output, SessionKey key, int version = LinkHello.Version)
    {
        using var item = output.Begin(LinkItemKind.Opened);
        var members = item.Members.Number(1).Number(1).Key(key);
        (version < LinkHello.CarriesFrames ? members : members.Bytes(PassOf(key).Span)).State(SessionState.Active).Age(TimeSpan.Zero);
    }

    /// <summary>Says it again on another connection, as the only one, and that it holds nothing.</summary>
    public static void Reopen(LinkQueue output, SessionKey key)
    {
        using (var item = output.Begin(LinkItemKind.Reopen))
        {
            item.Members.Number(1).Key(key).Bytes(PassOf(key).Span).State(SessionState.Active).Flag(false).Age(TimeSpan.Zero).Texts([]).Texts([]);
        }

        output.Begin(LinkItemKind.Synced).Dispose();
    }

    public static async Task SendAsync(ClientWebSocket socket, Action<LinkQueue> write)
    {
        var output = new LinkQueue();
        write(output);
        await socket.SendAsync(await output.TakeAsync(), WebSocketMessageType.Binary, true, CancellationToken.None).AsTask().WaitAsync(SocketHost.Patience);
    }

    /// <summary>Bytes; empty = the other end has closed it or is gone.</summary>
    public static async Task<byte[]> ReadAsync(ClientWebSocket socket)
    {
        var buffer = new byte[100_000];
        try
        {
            var received = await socket.ReceiveAsync(buffer.AsMemory(), CancellationToken.None).AsTask().WaitAsync(SocketHost.Patience);
            return buffer[..received.Count];
        }
        catch (WebSocketException)
        {
            return [];
        }
    }

    /// <summary>Reads until the hub has ended it.</summary>
    public static async Task ReadToEndAsync(ClientWebSocket socket)
    {
        while (await ReadAsync(socket) is { Length: > 0 })
        {
        }
    }

    public async ValueTask DisposeAsync()
    {
        await StopHubAsync();
        Assert.Empty(Hub.Faults);
    }
}
