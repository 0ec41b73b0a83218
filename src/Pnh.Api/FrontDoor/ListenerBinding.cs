using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Api.Configuration;

namespace Pnh.Api.FrontDoor;

/// <summary>Opens the configured addresses, the operations ones marked as such.</summary>
internal static class ListenerBinding
{
    /// <summary>Adds both listeners to the server. <paramref name="onPublic"/> may add connection middleware to each public one.</summary>
    public static void Listen(this KestrelServerOptions kestrel, PnhOptions options, Action<ListenOptions>? onPublic = null)
    {
        foreach (var address in options.Urls)
        {
            Open(kestrel, address, onPublic);
        }

        foreach (var address in options.OperationsUrls)
        {
            Open(kestrel, address, static listen => listen.UseOperationsListener());
        }
    }

    private static void Open(KestrelServerOptions kestrel, ListenAddress address, Action<ListenOptions>? configure)
    {
        void Configure(ListenOptions listen)
        {
            if (address.IsHttps)
            {
                listen.UseHttps();
            }

            configure?.Invoke(listen);
        }

        // The server binds localhost on two sockets, which cannot share a port that the system picks.
        if (address.Address is null && address.Port != 0)
        {
            kestrel.ListenLocalhost(address.Port, Configure);
        }
        else if (IPAddress.IPv6Any.Equals(address.Address))
        {
            kestrel.ListenAnyIP(address.Port, Configure);
        }
        else
        {
            kestrel.Listen(address.Address ?? IPAddress.Loopback, address.Port, Configure);
        }
    }
}
