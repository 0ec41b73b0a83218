using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.WebSockets;
using Pnh.Core.Push;

[assembly: WebSocketModule]

namespace Pnh.Channels.WebSockets;

/// <summary>Makes <c>websocket</c> known. The server itself is the program's to build: it needs the hub.</summary>
internal sealed class WebSocketModule : PushChannelModule
{
    public override string Name => WebSocketChannel.ChannelName;

    public override IReadOnlyList<string> ConfigurationKeys { get; } = [];

    public override void Register(IServiceCollection services, IConfiguration pnhSection) =>
        services.AddSingleton<IPushChannel, WebSocketChannel>();
}
