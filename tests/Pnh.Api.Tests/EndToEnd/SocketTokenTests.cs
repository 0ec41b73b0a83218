using System.Net.WebSockets;
using System.Text.Json;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>A hello whose token is refused: what the error frame says, and whether the client comes back.</summary>
public sealed class SocketTokenTests
{
    private const WebSocketCloseStatus ComeBack = (WebSocketCloseStatus)4002;
    private const WebSocketCloseStatus ComeBackLater = (WebSocketCloseStatus)4007;
    private const WebSocketCloseStatus StayAway = (WebSocketCloseStatus)4501;

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Hello_TokenExpiredOverNight_IsSentForANewOneAndWelcomedWithIt(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: $"--Pnh:Sockets:Transport={transport}");
        var old = OldToken(hub);

        var (error, close) = await RefusedAsync(hub, old);

        Assert.Equal((ComeBack, "token-expired"), (close, error.GetProperty("code").GetString()));
        Assert.Equal("The client token is not valid: expired. Come back with a new one.", error.GetProperty("message").GetString());
        Assert.Equal(401, (await hub.SendAsync("GET", "/v1/inbox?device=tab", credential: old)).Status);
        using var socket = await hub.ConnectAsync("ada", "tab");
    }

    [Theory]
    [InlineData("Direct")]
    [InlineData("Framework")]
    public async Task Hello_TokenExpiredAndForged_IsToldToComeLater(string transport)
    {
        await using var hub = await TestHub.StartAsync(configuration: $"--Pnh:Sockets:Transport={transport}");

        var (error, close) = await RefusedAsync(hub, Forged(OldToken(hub)));

        Assert.Equal((ComeBackLater, "bad-token"), (close, error.GetProperty("code").GetString()));
    }

    /// <summary>A client whose clock, or whose back-end's, is up to a minute behind: requests take its token, and so do sockets, for as long.</summary>
    [Theory]
    [InlineData(30, true)]
    [InlineData(90, false)]
    public async Task Hello_TokenOfNearlyNow_HasTheLeewayOfRest(int secondsOver, bool isTaken)
    {
        await using var hub = await TestHub.StartAsync();
        var token = hub.OldToken("ada", TimeSpan.FromHours(1) + TimeSpan.FromSeconds(secondsOver), "tab");
        Assert.Equal(isTaken ? 200 : 401, (await hub.SendAsync("GET", "/v1/inbox?device=tab", credential: token)).Status);
        using var socket = await TestSocket.OpenAsync(hub.Host.PublicAddress);
        await socket.SendAsync(JsonSerializer.Serialize(new { type = "hello", token, device = "tab" }));
        Assert.Equal(isTaken ? "welcome" : "error", (await socket.ReceiveAsync()).GetProperty("type").GetString());
        if (isTaken)
        {
            Assert.Equal(202, (await hub.SendAsync("POST", "/v1/events", """{"to":{"user":"ada"}}""")).Status);
            Assert.Equal("event", (await socket.ReceiveAsync()).GetProperty("type").GetString()); // it is not sent away at once
        }
    }

    [Theory]
    [InlineData("no-jwt.at-all", true)]
    [InlineData("eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJlbHNlIiwic3ViIjoiYSIsImV4cCI6OTk5OTk5OTk5OX0.c2ln", true)]
    [InlineData(null, false)]
    public async Task Hello_TokenNotValid_SaysWhatRestSays(string? token, bool isFinal)
    {
        await using var hub = await TestHub.StartAsync();
        token ??= Forged(hub.ClientToken("ada"));

        var (error, close) = await RefusedAsync(hub, token);

        var rest = await hub.SendAsync("GET", "/v1/inbox?device=tab", credential: token);
        Assert.Equal((isFinal ? StayAway : ComeBackLater, rest.Json.GetProperty("detail").GetString()), (close, error.GetProperty("message").GetString()));
    }

    // Good for an hour, the day before yesterday.
    private static string OldToken(TestHub hub) => hub.OldToken("ada", TimeSpan.FromDays(2), "tab");

    private static string Forged(string token) => token[..^10] + (token[^10] == 'A' ? 'B' : 'A') + token[^9..];

    private static async Task<(JsonElement Error, WebSocketCloseStatus? Close)> RefusedAsync(TestHub hub, string token)
    {
        using var socket = await TestSocket.OpenAsync(hub.Host.PublicAddress);
        await socket.SendAsync(JsonSerializer.Serialize(new { type = "hello", token, device = "tab" }));
        var error = await socket.ReceiveAsync();
        Assert.Equal("closed", (await socket.ReceiveAsync()).GetProperty("type").GetString());
        return (error, socket.CloseStatus);
    }
}
