using Microsoft.AspNetCore.Connections;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Pnh.Api.Configuration;
using Pnh.Api.DirectHttp;
using Pnh.Api.Listeners;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.Hosting;

/// <summary>How connections of a node come in.</summary>
internal static class TransportServices
{
    /// <summary>Registers the budgets of connections, the framework's transport, and our loops where they are asked for.</summary>
    /// <param name="services">Of the node.</param>
    /// <param name="options">Its configuration.</param>
    /// <param name="makeParts">What connections of the loops share.</param>
    public static IServiceCollection AddTransports(this IServiceCollection services, PnhOptions options, Func<IServiceProvider, FrontParts> makeParts)
    {
        // Unless a test has put one before it.
        services.TryAddSingleton(provider => new ConnectionBudgets(
            options, provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILogger<ConnectionBudget>>()));
        services.AddSingleton<StopLimit>().AddSingleton<IConnectionListenerFactory, BoundedTransport>();
        if (options.SocketsTransport.DirectPercent == 0)
        {
            return services;
        }

        // Behind the framework's: of several transports that could listen, the server takes the last.
        return services
            .AddSingleton(provider => new SocketLoops(
                SocketLoops.DefaultCount, provider.GetRequiredService<TimeProvider>(), provider.GetRequiredService<ILogger<SocketLoops>>()))
            .AddSingleton(makeParts)
            .AddSingleton<IConnectionListenerFactory>(provider => new DirectListenerFactory(
                provider.GetRequiredService<SocketLoops>(),
                provider.GetRequiredService<FrontParts>(),
                options,
                provider.GetRequiredService<ConnectionBudgets>(),
                provider.GetRequiredService<ILoggerFactory>()));
    }
}
