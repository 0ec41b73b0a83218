using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Settings;
using Pnh.Channels.WebPush;
using Pnh.Core.Push;

[assembly: WebPushModule]

namespace Pnh.Channels.WebPush;

/// <summary>Makes <c>webpush</c> known.</summary>
internal sealed class WebPushModule : PushChannelModule
{
    /// <summary>The settings of an account.</summary>
    public static SettingsGroup Settings { get; } = new("Apps:*:WebPush:*", typeof(WebPushSettings));

    public override string Name => WebPushChannel.ChannelName;

    public override IReadOnlyList<string> ConfigurationKeys { get; } = [.. Settings.Keys()];

    public override void Register(IServiceCollection services, IConfiguration pnhSection)
    {
        var channelServices = ProviderServices.Register(services, Name);
        services.AddSingleton(provider => new WebPushAccounts(pnhSection, provider.GetRequiredService<TimeProvider>()));
        services.AddSingleton<IWebPushKeys>(provider => provider.GetRequiredService<WebPushAccounts>());
        services.AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<WebPushAccounts>());
        services.AddSingleton<IPushChannel>(provider => new WebPushChannel(
            provider.GetRequiredService<WebPushAccounts>(),
            EndpointNetwork.System,
            channelServices(provider)));
    }
}
