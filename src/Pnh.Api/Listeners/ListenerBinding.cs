using System.Net;
using System.Net.Security;
using System.Security.Cryptography;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Https;
using Pnh.Api.Configuration;

namespace Pnh.Api.Listeners;

/// <summary>Opens the configured addresses, the operations ones marked as such.</summary>
internal static class ListenerBinding
{
    /// <summary>Adds both listeners to the server. Public addresses without TLS are marked for the direct transport, if that is registered.</summary>
    public static void Listen(this KestrelServerOptions kestrel, PnhOptions options)
    {
        var limit = kestrel.ApplicationServices.GetRequiredService<StopLimit>();
        foreach (var address in options.Urls)
        {
            Open(kestrel, address, (host, port) => address.IsHttps ? new IPEndPoint(host, port) : new DirectEndPoint(host, port), limit, configure: null);
        }

        foreach (var address in options.OperationsUrls)
        {
            Open(kestrel, address, static (host, port) => new OperationsEndPoint(host, port), limit, ListenerMark.MarkOperations);
        }
    }

    /// <summary>
    /// TLS with the certificate of the configuration, and HTTP/1.1 in it. Not HTTP/2: a connection whose client asks for much, reads nothing and goes holds its place in Kestrel for ever
    /// (dotnet/aspnetcore#51307) and writes Critical lines; and a browser with such a connection opens its WebSockets in it (RFC 8441), where the hub has none. Throws
    /// <see cref="CertificateException"/>.
    /// </summary>
    internal static void UseHttps(ListenOptions listen, ListenAddress address)
    {
        listen.Protocols = HttpProtocols.Http1;
        var certificate = listen.ApplicationServices.GetRequiredService<ListenerCertificate>();
        try
        {
            if (!certificate.IsGiven)
            {
                listen.UseHttps();
                return;
            }

            certificate.Start();
            listen.UseHttps(new TlsHandshakeCallbackOptions
            {
                OnConnection = _ => ValueTask.FromResult(new SslServerAuthenticationOptions { ServerCertificateContext = certificate.Current }),
            });
        }
        catch (InvalidOperationException fault) when (!IsGiven(listen))
        {
            throw new CertificateException($"{address} has no certificate", fault);
        }
        catch (Exception fault) when (fault is InvalidOperationException or ArgumentException or IOException or UnauthorizedAccessException or CryptographicException)
        {
            throw new CertificateException($"the certificate of {address} cannot be read: {fault.Message.TrimEnd('.')}", fault);
        }
    }

    private static bool IsGiven(ListenOptions listen) =>
        listen.ApplicationServices.GetRequiredService<IConfiguration>().GetSection("Kestrel:Certificates:Default").GetChildren().Any();

    private static void Open(KestrelServerOptions kestrel, ListenAddress address, Func<IPAddress, int, IPEndPoint> mark, StopLimit limit, Action<ListenOptions>? configure)
    {
        void Configure(ListenOptions listen)
        {
            KestrelPlace.GiveBack(listen);
            limit.Apply(listen);
            if (address.IsHttps)
            {
                UseHttps(listen, address);
            }

            configure?.Invoke(listen);
        }

        Bind(kestrel, address, mark, Configure);
    }

    /// <summary>Listens at the address, with an end point that <paramref name="mark"/> makes of a host's address and a port.</summary>
    internal static void Bind(KestrelServerOptions kestrel, ListenAddress address, Func<IPAddress, int, IPEndPoint> mark, Action<ListenOptions> configure)
    {
        // The server binds localhost on two sockets, which cannot share a port that the system picks.
        if (address.Address is null && address.Port != 0)
        {
            kestrel.ListenLocalhost(address.Port, configure);
        }
        else if (IPAddress.IPv6Any.Equals(address.Address) && mark(address.Address, address.Port) is not DirectEndPoint)
        {
            kestrel.ListenAnyIP(address.Port, configure);
        }
        else
        {
            kestrel.Listen(mark(address.Address ?? IPAddress.Loopback, address.Port), configure);
        }
    }
}

/// <summary>An https address without a certificate that can be used. The message is one line.</summary>
internal sealed class CertificateException(string message, Exception cause) : Exception(
    $"{message}; give one with Kestrel:Certificates:Default:Path, its key with KeyPath beside it (PEM) and their Password when they have one", cause);
