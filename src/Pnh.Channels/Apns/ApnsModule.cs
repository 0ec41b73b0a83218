using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Apns;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Settings;
using Pnh.Core.Push;

[assembly: ApnsModule]

namespace Pnh.Channels.Apns;

/// <summary>Makes <c>apns</c> known.</summary>
internal sealed class ApnsModule : PushChannelModule
{
    /// <summary>The settings of an account.</summary>
    public static SettingsGroup Settings { get; } = new("Apps:*:Apns:*", typeof(ApnsSettings));

    public override string Name => ApnsChannel.ChannelName;

    public override IReadOnlyList<string> ConfigurationKeys { get; } = [.. Settings.Keys()];

    public override void Register(IServiceCollection services, IConfiguration pnhSection)
    {
        var channelServices = ProviderServices.Register(services, Name);
        services.AddSingleton(provider => new ApnsAccounts(pnhSection, channelServices(provider)));
        services.AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<ApnsAccounts>());
        services.AddSingleton<IPushChannel>(provider => new ApnsChannel(
            provider.GetRequiredService<ApnsAccounts>(), channelServices(provider)));
    }
}
