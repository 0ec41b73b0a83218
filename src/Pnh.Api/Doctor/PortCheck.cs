using System.Net.Sockets;
using Pnh.Api.Configuration;

namespace Pnh.Api.Doctor;

/// <summary>Whether a listener could be opened, or a hub has it already.</summary>
internal static class PortCheck
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>Of one address of the configuration.</summary>
    public static async Task<Finding> LookAsync(string what, ListenAddress address, CancellationToken cancellationToken)
    {
        var client = address.ToClientUri();
        try
        {
            using var socket = new TcpClient();
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            patience.CancelAfter(Patience);
            await socket.ConnectAsync(client.Host, client.Port, patience.Token);
        }
        catch (Exception fault) when (fault is SocketException || (fault is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return new Finding(Grade.Good, what, $"{client} is free");
        }

        return await IsHubAsync(client, cancellationToken) switch
        {
            true => new Finding(Grade.Good, what, $"{client}: a hub is running"),
            false => new Finding(Grade.Bad, what, $"{client}: another program holds the port; stop it, or give the hub another one"),
            null => new Finding(Grade.Doubtful, what, $"{client} answers with a certificate that this machine does not trust: a hub, or another program. SSL_CERT_FILE=… names a file of roots"),
        };
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
