using System.Net;
using System.Net.Sockets;
using Pnh.Api.Configuration;

namespace Pnh.Api.Doctor;

/// <summary>Whether a listener could be opened, or a hub has it already.</summary>
internal static class PortCheck
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>Of one address of the configuration.</summary>
    /// <param name="what">The listener.</param>
    /// <param name="address">Its address.</param>
    /// <param name="isRunning">True when a hub has the data folder, so that the port may be its own.</param>
    /// <param name="cancellationToken">Ends the look.</param>
    public static async Task<Finding> LookAsync(string what, ListenAddress address, bool isRunning, CancellationToken cancellationToken)
    {
        var client = address.ToClientUri();
        if (FindFault(address) is not { } fault)
        {
            return new Finding(Grade.Good, what, $"{client} is free");
        }

        if (fault != SocketError.AddressAlreadyInUse)
        {
            return new Finding(Grade.Bad, what, $"{client} cannot be opened ({fault}): {(fault == SocketError.AccessDenied ? "ports below 1024 need a right; give the hub another one" : "give the hub an address of this machine")}");
        }

        return await IsHubAsync(client, cancellationToken) switch
        {
            true when isRunning => new Finding(Grade.Good, what, $"{client}: a hub is running"),
            true => new Finding(Grade.Bad, what, $"{client}: another hub, with another data folder, holds the port; stop it, or give this one another port"),
            false => new Finding(Grade.Bad, what, $"{client}: another program holds the port; stop it, or give the hub another one"),
            null => new Finding(Grade.Doubtful, what, $"{client} answers with a certificate that this machine does not trust: a hub, or another program. SSL_CERT_FILE=… names a file of roots"),
        };
    }

    /// <summary>What keeps a hub from listening there; null = nothing. A program that holds the port need not answer.</summary>
    private static SocketError? FindFault(ListenAddress address)
    {
        foreach (var local in address.Address is { } said ? [said] : new[] { IPAddress.Loopback, IPAddress.IPv6Loopback })
        {
            try
            {
                using var socket = new Socket(local.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
                socket.Bind(new IPEndPoint(local, address.Port));
                socket.Listen();
            }
            catch (SocketException fault) when (address.Address is not null || fault.SocketErrorCode == SocketError.AddressAlreadyInUse || local.Equals(IPAddress.Loopback))
            {
                return fault.SocketErrorCode;
            }
            catch (SocketException)
            {
                // A machine without IPv6.
            }
        }

        return null;
    }

    /// <summary>Null = its certificate is not trusted, so it was not asked.</summary>
    private static async Task<bool?> IsHubAsync(Uri address, CancellationToken cancellationToken)
    {
        using var http = new HttpMessageInvoker(new SocketsHttpHandler());
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(address, "/healthz"));
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        patience.CancelAfter(Patience);
        try
        {
            using var answer = await http.SendAsync(request, patience.Token);
            var text = await answer.Content.ReadAsStringAsync(patience.Token);
            return answer.IsSuccessStatusCode && text.StartsWith("ok", StringComparison.Ordinal);
        }
        catch (HttpRequestException fault) when (fault.HttpRequestError == HttpRequestError.SecureConnectionError)
        {
            return null;
        }
        catch (Exception fault) when (fault is HttpRequestException or IOException || (fault is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return false;
        }
    }
}
