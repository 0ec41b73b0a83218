using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.WebPush;
using Pnh.Core.Push;

[assembly: WebPushModule]

namespace Pnh.Channels.WebPush;

/// <summary>Makes <c>webpush</c> known.</summary>
internal sealed class WebPushModule : PushChannelModule
{
    public override string Name => WebPushChannel.ChannelName;

    public override IReadOnlyList<string> ConfigurationKeys { get; } =
    [
        "Apps:*:WebPush:*:Subject",
        "Apps:*:WebPush:*:KeyFile",
        "Apps:*:WebPush:*:AllowedHosts",
        "Apps:*:WebPush:*:AllowLoopback",
        "Apps:*:WebPush:*:ClearText",
    ];

    public override void Register(IServiceCollection services, IConfiguration pnhSection)
    {
        var channelServices = ProviderServices.Register(services, Name);
        services.AddSingleton(provider => new WebPushAccounts(pnhSection, provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<WebPushAccounts>());
        services.AddSingleton<IPushChannel>(provider => new WebPushChannel(
            provider.GetRequiredService<WebPushAccounts>(),
            EndpointNetwork.System,
            channelServices(provider)));
    }
}
