using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Pnh.Channels.Fcm;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Settings;
using Pnh.Core.Push;

[assembly: FcmModule]

namespace Pnh.Channels.Fcm;

/// <summary>Makes <c>fcm</c> known.</summary>
internal sealed class FcmModule : PushChannelModule
{
    /// <summary>The settings of an account.</summary>
    public static SettingsGroup Settings { get; } = new("Apps:*:Fcm:*", typeof(FcmSettings));

    public override string Name => FcmChannel.ChannelName;

    public override IReadOnlyList<string> ConfigurationKeys { get; } = [.. Settings.Keys()];

    public override void Register(IServiceCollection services, IConfiguration pnhSection)
    {
        var channelServices = ProviderServices.Register(services, Name);
        services.AddSingleton(provider => new FcmAccounts(pnhSection, channelServices(provider)));
        services.AddSingleton<IConfigurationCheck>(provider => provider.GetRequiredService<FcmAccounts>());
        services.AddSingleton<IPushChannel>(provider => new FcmChannel(
            provider.GetRequiredService<FcmAccounts>(), channelServices(provider)));
    }
}
