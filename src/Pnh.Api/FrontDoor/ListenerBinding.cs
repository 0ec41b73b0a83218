using System.Net;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Api.Configuration;
using Pnh.Api.Ingest;

namespace Pnh.Api.FrontDoor;

/// <summary>Opens the configured addresses, the operations ones marked as such.</summary>
internal static class ListenerBinding
{
    /// <summary>Adds both listeners to the server. Public addresses without TLS are marked for the direct transport, if that is registered.</summary>
    public static void Listen(this KestrelServerOptions kestrel, PnhOptions options)
    {
        foreach (var address in options.Urls)
        {
            Open(kestrel, address, isDirect: !address.IsHttps, configure: null);
        }

        foreach (var address in options.OperationsUrls)
        {
            Open(kestrel, address, isDirect: false, static listen => listen.UseOperationsListener());
        }
    }

    private static void Open(KestrelServerOptions kestrel, ListenAddress address, bool isDirect, Action<ListenOptions>? configure)
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
        else if (isDirect)
        {
            kestrel.Listen(new DirectEndPoint(address.Address ?? IPAddress.Loopback, address.Port), Configure);
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
