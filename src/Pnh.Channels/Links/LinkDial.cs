using System.Net.WebSockets;

namespace Pnh.Channels.Links;

/// <summary>Dials a hub's listener with the cluster's key. Thread-safe.</summary>
internal sealed class LinkDial : IDisposable
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(5);
    private readonly HttpMessageInvoker _http = new(new SocketsHttpHandler { ConnectTimeout = Timeout, UseCookies = false, UseProxy = false });
    private readonly string _key;

    /// <param name="key">The cluster's.</param>
    public LinkDial(string key) => _key = key;

    /// <summary>Dials once, for at most 5 s. The socket, which is the caller's to dispose, or the reason of the failure: one of the two is null.</summary>
    public async Task<(ClientWebSocket? Socket, string? Fault)> TryAsync(Uri hub, CancellationToken cancellationToken)
    {
        var socket = new ClientWebSocket();
        socket.Options.KeepAliveInterval = TimeSpan.Zero;
        socket.Options.SetRequestHeader("Authorization", $"Bearer {_key}");
        try
        {
            using var patience = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
            patience.CancelAfter(Timeout);
            await socket.ConnectAsync(hub, _http, patience.Token);
            return (socket, null);
        }
        catch (Exception fault) when (fault is WebSocketException or OperationCanceledException or HttpRequestException or IOException)
        {
            socket.Dispose();
            return (null, fault.GetBaseException().Message);
        }
    }

    /// <summary>Dials no more.</summary>
    public void Dispose() => _http.Dispose();
}
