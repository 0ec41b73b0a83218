using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Options;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.Listeners;

/// <summary>
/// The framework's transport, which accepts no more connections than <see cref="ConnectionBudgets"/> allow: looked at with each accept, not in a middleware,
/// which runs when a thread of the pool is free and thousands have been accepted. Thread-safe.
/// </summary>
internal sealed class BoundedTransport(ConnectionBudgets budgets, IOptions<SocketTransportOptions> options, ILoggerFactory log)
    : IConnectionListenerFactory, IConnectionListenerFactorySelector
{
    private readonly SocketTransportFactory _sockets = new(options, log);

    /// <inheritdoc/>
    public bool CanBind(EndPoint endpoint) => endpoint is IPEndPoint;

    /// <inheritdoc/>
    public async ValueTask<IConnectionListener> BindAsync(EndPoint endpoint, CancellationToken cancellationToken = default) =>
        new BoundedListener(await _sockets.BindAsync(endpoint, cancellationToken), budgets.Of((IPEndPoint)endpoint));

    private sealed class BoundedListener(IConnectionListener inner, ConnectionBudget budget) : IConnectionListener
    {
        public EndPoint EndPoint => inner.EndPoint;

        public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
        {
            while (await inner.AcceptAsync(cancellationToken) is { } connection)
            {
                var address = budget.PerAddress > 0 && connection.RemoteEndPoint is IPEndPoint peer ? PeerAddress.KeyOf(peer.Address) : 0;
                if (budget.TryEnter(Descriptor(connection), address))
                {
                    connection.Features.Set(new KestrelPlace(connection, budget, address));
                    return connection;
                }

                connection.Abort();
                await connection.DisposeAsync();
            }

            return null;
        }

        public ValueTask UnbindAsync(CancellationToken cancellationToken = default) => inner.UnbindAsync(cancellationToken);

        public ValueTask DisposeAsync() => inner.DisposeAsync();

        private static int Descriptor(ConnectionContext connection) =>
            connection.Features.Get<IConnectionSocketFeature>() is { } socket ? (int)socket.Socket.Handle : 0;
    }
}
