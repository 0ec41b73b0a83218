using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.WebSockets;
using Pnh.Channels.WebSockets.Server;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Events;
using Pnh.Core.Users;

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
    public void Open_Always_IsNotSupported() =>
        Assert.Throws<NotSupportedException>(() => _channel.Open("", EventClass.Message));

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
}
