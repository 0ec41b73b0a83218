using System.Collections.Concurrent;
using System.Net.WebSockets;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Http;
using Pnh.Api.Operations;
using Pnh.Api.WebConsole;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Api.Tests.ConsolePage;

/// <summary>
/// A hub as small as the page needs: two phones, a socket that speaks as much of pnh.v1 as the tab does, and real metrics. The page is
/// tested against it without the rest of the program.
/// </summary>
internal sealed class FakeHub : IConsoleSource, IDisposable
{
    public const string User = "demo";

    /// <summary>Neither a user nor an event.</summary>
    public const string Nobody = "nobody-at-all";

    private readonly HubMetrics _metrics = new(Prometheus.Metrics.NewCustomRegistry(), TimeProvider.System, ["demo"]);
    private readonly ConcurrentDictionary<string, Tab> _tabs = new();
    private readonly ConcurrentDictionary<string, ConcurrentStack<LockScreenItem>> _phones = new();
    private readonly DateTimeOffset _started = TimeProvider.System.GetUtcNow();
    private int _snapshots;

    public FakeHub()
    {
        _phones["demo/iphone"] = [];
        _phones["demo/pixel"] = [];
    }

    public string SocketUrl { get; set; } = "ws://localhost:1/v1/socket";

    public Uri? Socket => HasTabUser ? new Uri(SocketUrl) : null;

    public bool HasTabUser { get; set; } = true;

    public bool Fails { get; set; }

    /// <summary>What the strip shows.</summary>
    public IReadOnlyList<string> Troubles { get; set; } = [];

    public bool IsKeyRevoked { get; set; }

    /// <summary>Sessions in the table besides the open tabs.</summary>
    public int MadeUpSessions { get; set; } = 5;

    public int Snapshots => Volatile.Read(ref _snapshots);

    public string? LastBody { get; private set; }

    /// <summary>Highest seq that any tab acknowledged.</summary>
    public int LastAck { get; private set; }

    public HubTotals Totals() => _metrics.Snapshot();

    public ConsoleSnapshot Snapshot()
    {
        Interlocked.Increment(ref _snapshots);
        if (Fails)
        {
            throw new InvalidOperationException("no snapshot today");
        }

        var sessions = _tabs.Values.Select(tab => new ConsoleSession("demo", User, tab.Device, "s", Platform.Web, tab.State, tab.Since))
            .Concat(Enumerable.Range(1, MadeUpSessions).Select(i => new ConsoleSession(
                "demo", $"user-{i}", $"phone-{i}", "s", (Platform)(i % 4), (SessionState)(i % 2), _started.AddMinutes(-7 * i)))).ToList();
        var phones = _phones.OrderBy(phone => phone.Key).Select(phone => new ConsolePhone(
            phone.Key, phone.Key, phone.Key.EndsWith("iphone", StringComparison.Ordinal) ? Platform.Ios : Platform.Android, phone.Value.Count, [.. phone.Value]));
        NodeBody[] nodes =
        [
            new("hub-0", "all", "0.1.0-test", 2, sessions.Count, sessions.Count, 10, 4, 0.25, 104_857_600, 2.5),
            new("edge-1", "edge", "0.1.0-test", 2, 0, 0, 0, 1, 0.01, 52_428_800, 0),
        ];
        return new ConsoleSnapshot("0.1.0-test", _started, "demo", _metrics.Snapshot(), sessions.Count, sessions, [.. phones], ["demo"], Troubles, Nodes: nodes);
    }

    public async ValueTask<ConsoleAnswer> SendAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken)
    {
        LastBody = Encoding.UTF8.GetString(body.Span);
        var json = JsonNode.Parse(body.Span)!.AsObject();
        Assert.True(EventClassNames.TryParse((string)json["class"]!, out var @class));
        var id = $"event-{Guid.NewGuid():N}"[..20];
        _metrics.EventCounted("demo", @class, EventResult.Accepted);
        _metrics.JournalSynced(TimeSpan.FromMilliseconds(1.4));
        _metrics.RequestServed();
        foreach (var tab in _tabs.Values)
        {
            await tab.SendAsync(new JsonObject
            {
                ["type"] = "event",
                ["seq"] = tab.NextSeq(),
                ["id"] = id,
                ["class"] = @class.Label(),
                ["data"] = json["data"]?.DeepClone(),
                ["notification"] = json["notification"]?.DeepClone(),
            });
            Delivered("websocket", @class, DeliveryStatus.Sent);
            _metrics.AcceptToFrame(@class, TimeSpan.FromMilliseconds(0.6));
        }

        var item = new LockScreenItem(id, (string?)json["notification"]?["title"] ?? "", (string?)json["notification"]?["body"] ?? "",
            @class == EventClass.Call ? "voip" : "alert", "10", TimeProvider.System.GetUtcNow());
        foreach (var (name, screen) in _phones)
        {
            screen.Push(item);
            Delivered(name.EndsWith("iphone", StringComparison.Ordinal) ? "apns" : "fcm", @class, DeliveryStatus.Accepted);
        }

        return new ConsoleAnswer(202, "application/json", Encoding.UTF8.GetBytes($$"""{"id":"{{id}}","durable":true}"""));
    }

    public ValueTask<ConsoleAnswer> ExplainAsync(ReadOnlyMemory<byte> body, CancellationToken cancellationToken) => new(new ConsoleAnswer(
        200, "application/json", """
        {"id":"x","class":"message","durable":true,"users":[{"user":"demo","outcome":"planned","devices":[
        {"device":"tab-1","platform":"web","reason":"active-session","suppressed":false,"steps":[{"channel":"websocket","when":"now","session":"s"}],"mailbox":true},
        {"device":"iphone","platform":"ios","reason":"active-elsewhere","suppressed":false,"steps":[{"channel":"apns","when":"unless-acked-elsewhere","after":2,"address":"token"}],"mailbox":true},
        {"device":"pixel","platform":"android","reason":"no-session","suppressed":false,"steps":[],"mailbox":true,"pushHeld":"quiet-hours"}]}]}
        """u8.ToArray()));

    public Task WriteUserAsync(HttpContext context, string? app, string user)
    {
        context.Response.ContentType = "application/json";
        if (user == Nobody)
        {
            return context.Response.WriteAsync($$"""{"app":"demo","user":"{{user}}","isEvent":false,"devices":[],"settings":{},"sessions":[],"events":[]}""");
        }

        return context.Response.WriteAsync($$"""
            {"app":"{{app ?? "demo"}}","user":"{{user}}","isEvent":{{(user == "e-1" ? "true" : "false")}},"devices":[{"device":"iphone","platform":"ios","apns":{"token":"aa"},"registeredAt":"2026-01-01T12:00:00+00:00"}],
            "settings":{},"sessions":[{"device":"tab-1","state":"active","since":"2026-01-01T12:00:00+00:00"}],"events":[
            {"id":"e-1","class":"call","acceptedAt":"2026-01-01T12:00:00+00:00","expiresAt":"2026-01-02T12:00:00+00:00","milestones":[],"deliveries":[
            {"user":"{{user}}","device":"iphone","state":"failed","reason":"no-provider","milestones":[]}]}]}
            """);
    }

    public Task WriteNewestAsync(HttpContext context, string? app) => WriteEventAsync(context, "accepted", "\"channel\":\"apns\"");

    public Task WriteFailuresAsync(HttpContext context, string? app, string? channel) => channel is null or ChannelNames.None
        ? WriteEventAsync(context, "failed", "\"reason\":\"no-provider\"")
        : context.Response.WriteAsJsonAsync(new { events = Array.Empty<object>() });

    private static Task WriteEventAsync(HttpContext context, string state, string why)
    {
        context.Response.ContentType = "application/json";
        return context.Response.WriteAsync($$"""
            {"events":[{"id":"e-1","class":"message","acceptedAt":"2026-01-01T12:00:00+00:00","expiresAt":"2026-01-02T12:00:00+00:00","milestones":[],"deliveries":[
            {"user":"demo","device":"iphone","state":"{{state}}",{{why}},"milestones":[{"at":"2026-01-01T12:00:03+00:00","kind":"settled","state":"{{state}}",{{why}}}]}]}]}
            """);
    }

    public Task WriteTimelineAsync(HttpContext context, string? app, string id)
    {
        context.Response.ContentType = "application/json";
        return context.Response.WriteAsync($$"""
            {"id":"{{id}}","class":"message","state":"open","acceptedAt":"2026-01-01T12:00:00+00:00","expiresAt":"2026-01-02T12:00:00+00:00","milestones":[],"deliveries":[
            {"user":"demo","device":"iphone","state":"accepted","channel":"apns","providerId":"A-1","mailbox":true,"milestones":[
            {"at":"2026-01-01T12:00:00+00:00","kind":"planned","reason":"no-session"},
            {"at":"2026-01-01T12:00:01+00:00","kind":"retry","reason":"TooManyRequests","channel":"apns","attempts":1,"nextAttemptAt":"2026-01-01T12:00:03+00:00"},
            {"at":"2026-01-01T12:00:03+00:00","kind":"settled","state":"accepted","channel":"apns","providerId":"A-1"}]}]}
            """);
    }

    public ValueTask<TabToken?> CreateTabTokenAsync(CancellationToken cancellationToken) =>
        new(HasTabUser ? new TabToken("e30.e30.e30", User, null, SocketUrl) : null);

    /// <summary>Spoils the picture a little: outcomes other than success.</summary>
    public void CountTroubles()
    {
        _metrics.DeliveryCounted("apns", EventClass.Message, DeliveryStatus.AddressDead);
        _metrics.DeliveryCounted("fcm", EventClass.Bulk, DeliveryStatus.Throttled);
        _metrics.EventCounted("demo", EventClass.Bulk, EventResult.Overloaded);
        _metrics.EventCounted("demo", EventClass.Message, EventResult.Duplicate);
    }

    public async Task RunSocketAsync(HttpContext context)
    {
        using var socket = await context.WebSockets.AcceptWebSocketAsync(context.WebSockets.WebSocketRequestedProtocols.FirstOrDefault());
        var tab = new Tab(socket, TimeProvider.System.GetUtcNow());
        var buffer = new byte[4096];
        try
        {
            while (await socket.ReceiveAsync(buffer.AsMemory(), context.RequestAborted) is { MessageType: WebSocketMessageType.Text } part)
            {
                await HandleAsync(tab, JsonNode.Parse(buffer.AsSpan(0, part.Count))!.AsObject());
            }
        }
        catch (Exception exception) when (exception is WebSocketException or OperationCanceledException)
        {
            // The browser went away.
        }
        finally
        {
            if (_tabs.TryRemove(tab.Id, out _))
            {
                _metrics.SessionsChanged(tab.State, -1);
            }
        }
    }

    public void Dispose() => _metrics.Dispose();

    private async Task HandleAsync(Tab tab, JsonObject frame)
    {
        switch ((string)frame["type"]!)
        {
            case "hello":
                tab.Device = (string)frame["device"]!;
                tab.State = Enum.Parse<SessionState>((string)frame["state"]!, ignoreCase: true);
                _tabs[tab.Id] = tab;
                _metrics.SessionsChanged(tab.State, 1);
                await tab.SendAsync(new JsonObject { ["type"] = "welcome", ["session"] = tab.Id, ["seq"] = 0, ["resumed"] = false });
                break;
            case "ack":
                LastAck = Math.Max(LastAck, (int)frame["seq"]!);
                break;
            case "state":
                _metrics.SessionsChanged(tab.State, -1);
                tab.State = Enum.Parse<SessionState>((string)frame["state"]!, ignoreCase: true);
                _metrics.SessionsChanged(tab.State, 1);
                break;
        }
    }

    private void Delivered(string channel, EventClass @class, DeliveryStatus status)
    {
        _metrics.DeliveryCounted(channel, @class, status);
        _metrics.RequestServed();
    }

    private sealed class Tab(WebSocket socket, DateTimeOffset since)
    {
        private int _seq;

        public string Id { get; } = Guid.NewGuid().ToString("N");

        public DateTimeOffset Since { get; } = since;

        public string Device { get; set; } = "";

        public SessionState State { get; set; }

        public int NextSeq() => Interlocked.Increment(ref _seq);

        public Task SendAsync(JsonObject frame) =>
            socket.SendAsync(Encoding.UTF8.GetBytes(frame.ToJsonString()), WebSocketMessageType.Text, true, CancellationToken.None);
    }
}
