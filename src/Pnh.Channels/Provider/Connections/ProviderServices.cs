using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Provider.Connections;

/// <summary>What every provider's sender needs from the process.</summary>
internal sealed record ProviderServices(
    ProviderTrust Trust, ProviderGauges Gauges, TimeProvider Time, ILoggerFactory Loggers, ConnectionTransports Transports)
{
    /// <summary>Registers the channel's gauges; the function makes what its senders need, out of the container.</summary>
    public static Func<IServiceProvider, ProviderServices> Register(IServiceCollection services, string channel)
    {
        services.AddKeyedSingleton(channel, (provider, _) => new ProviderGauges(
            channel, provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILoggerFactory>().CreateLogger<ProviderGauges>()));
        services.AddSingleton(provider => provider.GetRequiredKeyedService<ProviderGauges>(channel));
        return provider => From(provider, provider.GetRequiredKeyedService<ProviderGauges>(channel));
    }

    /// <summary>With gauges of one's own.</summary>
    public static ProviderServices From(IServiceProvider services, ProviderGauges gauges) => new(
        services.GetRequiredService<ProviderTrust>(),
        gauges,
        services.GetRequiredService<TimeProvider>(),
        services.GetRequiredService<ILoggerFactory>(),
        services.GetRequiredService<ConnectionTransports>());
}
