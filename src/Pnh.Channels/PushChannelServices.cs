using System.Reflection;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Pnh.Channels.Provider.Connections;

namespace Pnh.Channels;

/// <summary>Composition of the channels.</summary>
public static class PushChannelServices
{
    /// <summary>
    /// Registers every channel whose <see cref="PushChannelModule"/> stands on this assembly or one of <paramref name="assemblies"/>, and the
    /// modules themselves (for their <see cref="PushChannelModule.ConfigurationKeys"/>). Throws <see cref="InvalidOperationException"/> when
    /// two modules have one name.
    /// </summary>
    public static IServiceCollection AddPushChannels(
        this IServiceCollection services, IConfiguration pnhSection, params IEnumerable<Assembly> assemblies)
    {
        services.AddLogging();
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<ProviderTrust>();
        services.TryAddSingleton<ConnectionTransports>();
        foreach (var module in FindModules(assemblies))
        {
            services.AddSingleton(module);
            module.Register(services, pnhSection);
        }

        return services;
    }

    private static List<PushChannelModule> FindModules(IEnumerable<Assembly> assemblies)
    {
        var byName = new SortedDictionary<string, PushChannelModule>(StringComparer.Ordinal);
        foreach (var assembly in assemblies.Prepend(typeof(PushChannelModule).Assembly).Distinct())
        {
            foreach (var module in assembly.GetCustomAttributes<PushChannelModule>())
            {
                if (!byName.TryAdd(module.Name, module))
                {
                    throw new InvalidOperationException(
                        $"Two push channels are named '{module.Name}': {byName[module.Name].GetType()} and {module.GetType()}. Rename one of them.");
                }
            }
        }

        return [.. byName.Values];
    }
}
