using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.WebSockets;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Plans;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Tests.WebSockets;

public class WebSocketChannelTests
{
    private readonly WebSocketChannel _channel = new();

    [Fact]
    public void ReadAddresses_AnySection_IsAnUnknownMember()
    {
        using var section = JsonDocument.Parse("""{"token":"x"}""");
        var addresses = new List<PushAddress>();
        var errors = new List<FieldError>();
        _channel.ReadAddresses(section.RootElement, TimeProvider.System.GetUtcNow(), addresses, errors);
        Assert.Empty(addresses);
        Assert.Equal("unknown-member", Assert.Single(errors).Code);
    }

    [Fact]
    public void AddPushChannels_FindsTheFolder()
    {
        var services = new ServiceCollection().AddPushChannels(new ConfigurationBuilder().Build());
        Assert.Single(services, service => service.ImplementationType == typeof(WebSocketChannel));
    }

    [Fact]
    public async Task SendAsync_WithoutALiveSession_IsNotConnected()
    {
        await using var sender = _channel.Open("", EventClass.Message);
        var none = await sender.SendAsync(Delivery(null), CancellationToken.None);
        Assert.Equal((DeliveryStatus.NotConnected, "no-session"), (none.Status, none.Reason));

        var session = Session();
        session.End(SessionClose.Kicked);
        var gone = await sender.SendAsync(Delivery(session), CancellationToken.None);
        Assert.Equal(DeliveryStatus.NotConnected, gone.Status);
    }

    [Fact]
    public async Task SendAsync_LiveSession_CompletesAtOnceAsSentAndTheFrameWaits()
    {
        await using var sender = _channel.Open("", EventClass.Message);
        var session = Session();
        var sending = sender.SendAsync(Delivery(session), CancellationToken.None);
        Assert.True(sending.IsCompletedSuccessfully);
        Assert.Equal(DeliveryStatus.Sent, (await sending).Status);
        Assert.Equal([(1, "e-1")], FakeTransport.Drain(session));
    }

    [Fact]
    public void Options_Wrong_AreAllNamedAtOnce()
    {
        var hub = new RecordingHub();
        var options = new WebSocketServerOptions
        {
            HelloTimeout = TimeSpan.Zero,
            QueueItems = 0,
            MessageBurst = 0,
            KeepAliveInterval = -TimeSpan.FromSeconds(1),
        };
        var logger = Microsoft.Extensions.Logging.Abstractions.NullLogger<WebSocketServer>.Instance;
        var refusal = Assert.Throws<ArgumentException>(() => new WebSocketServer(hub, hub, TimeProvider.System, options, logger));
        foreach (var name in new[] { "HelloTimeout", "QueueItems", "MessageBurst", "KeepAliveInterval" })
        {
            Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
        }
    }

    private static Session Session() => new(
        new SessionKey("demo", "ada", "tab-1", "s-1"), SessionState.Active, TimeProvider.System.GetUtcNow(), ConnectionPeer.Unknown,
        new WebSocketServerOptions());

    private static Delivery Delivery(Session? session) => new()
    {
        Event = Events.Make("e-1"),
        User = new UserKey("demo", "ada"),
        Device = new Device { Id = "tab-1", Platform = Platform.Web, RegisteredAt = TimeProvider.System.GetUtcNow() },
        Session = session is null ? null : new LiveSession(session.Key, session.State, session, TimeProvider.System.GetUtcNow()),
    };
}
