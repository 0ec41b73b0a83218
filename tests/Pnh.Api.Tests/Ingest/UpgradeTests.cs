using Microsoft.Extensions.DependencyInjection;
using Pnh.Api.Tests.EndToEnd;
using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Server;

namespace Pnh.Api.Tests.Ingest;

/// <summary>The upgrade on the loop (RFC 6455 section 4.2).</summary>
public sealed class UpgradeTests : IAsyncLifetime
{
    // The key and its answer are the RFC's own example.
    private const string Upgrade =
        "GET /v1/socket HTTP/1.1\r\nHost: hub\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nUser-Agent: tab/1\r\n";

    private TestHub _hub = null!;

    private int Port => _hub.Host.PublicAddress.Port;

    public async Task InitializeAsync() => _hub = await TestHub.StartAsync();

    public async Task DisposeAsync() => await _hub.DisposeAsync();

    [Theory]
    [InlineData("", null)]
    [InlineData("Sec-WebSocket-Protocol: pnh.v1\r\n", "pnh.v1")]
    [InlineData("Sec-WebSocket-Protocol: other, pnh.v1\r\n", "pnh.v1")]
    [InlineData("Sec-WebSocket-Protocol: other\r\n", null)]
    [InlineData("Sec-WebSocket-Extensions: permessage-deflate\r\n", null)]
    public async Task Upgrade_Proper_IsAnswered(string headers, string? protocol)
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync($"{Upgrade}{headers}\r\n");

        var answer = await client.ReceiveAsync();

        Assert.Equal((101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), (answer.Status, answer.Header("Sec-WebSocket-Accept")));
        Assert.Equal(("Upgrade", "websocket", protocol), (answer.Header("Connection"), answer.Header("Upgrade"), answer.Header("Sec-WebSocket-Protocol")));
        Assert.Null(answer.Header("Sec-WebSocket-Extensions"));
        Assert.Equal(1, _hub.Host.Services.GetRequiredService<SocketLoops>().Count);
    }

    [Fact]
    public async Task Upgrade_HelloRightBehindIt_IsRead()
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync($"{Upgrade}Authorization: Bearer {_hub.ClientToken("ada")}\r\n\r\n{Masked("""{"type":"hello","device":"tab"}""")}");

        await client.ReceiveUntilAsync(static text => text.Contains("\"welcome\"", StringComparison.Ordinal));

        var session = Assert.Single(_hub.Host.Services.GetRequiredService<WebSocketServer>().Snapshot(10));
        Assert.Equal(("ada", "tab", "127.0.0.1", "tab/1"), (session.Key.User, session.Key.Device, session.Peer.Address, session.Peer.UserAgent));
    }

    [Fact]
    public async Task Upgrade_AfterAnEvent_IsAnswered()
    {
        using var client = await RawClient.ConnectAsync(Port);
        var body = """{"to":{"user":"ada"},"class":"transient"}""";
        await client.SendAsync($"POST /v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {_hub.Key}\r\nContent-Type: application/json\r\nContent-Length: {body.Length}\r\n\r\n{body}{Upgrade}\r\n");

        Assert.Equal((202, 101), ((await client.ReceiveAsync()).Status, (await client.ReceiveAsync()).Status));
    }

    [Theory]
    [InlineData("User-Agent: tab/1", "Authorization: Bearer nonsense", 401)]
    [InlineData("Version: 13", "Version: 8", 400)]
    public async Task Upgrade_Improper_IsRefusedByTheFramework(string old, string changed, int status)
    {
        using var client = await RawClient.ConnectAsync(Port);
        await client.SendAsync($"{Upgrade}\r\n".Replace(old, changed, StringComparison.Ordinal));

        Assert.Equal(status, (await client.ReceiveAsync()).Status);
        Assert.Equal(0, _hub.Host.Services.GetRequiredService<SocketLoops>().Count);
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Upgrade_BadToken_IsChallenged(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: $"--Pnh:Sockets:Transport={transport}");
        using var client = await RawClient.ConnectAsync(hub.Host.PublicAddress.Port);
        await client.SendAsync($"{Upgrade}Authorization: Bearer nonsense\r\n\r\n");

        var answer = await client.ReceiveAsync();

        Assert.Equal((401, "Bearer error=\"invalid_token\", error_description=\"malformed\""), (answer.Status, answer.Header("WWW-Authenticate")));
    }

    // A text frame of less than 126 bytes with a mask of zeros.
    private static string Masked(string text) => $"\u0081{(char)(0x80 | text.Length)}\0\0\0\0{text}";
}
