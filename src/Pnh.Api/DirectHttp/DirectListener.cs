using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Pnh.Api.Listeners;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.DirectHttp;

/// <summary>
/// One public address: accepted by a loop; what <see cref="HttpFront"/> hands over comes out here as a connection of the framework's, with the
/// bytes that had arrived in front. Thread-safe.
/// </summary>
internal sealed partial class DirectListener : IConnectionListener
{
    /// <summary>How long a request that has begun may keep a stop waiting.</summary>
    private static readonly TimeSpan LastAnswers = TimeSpan.FromSeconds(5);

    private readonly Channel<(Socket Socket, byte[] Arrived, ConnectionPermit Place)> _handedOver = Channel.CreateUnbounded<(Socket, byte[], ConnectionPermit)>();
    private readonly SocketConnectionContextFactory _connections;
    private readonly FrontTable _fronts;
    private readonly ILogger _log;
    private LoopListener? _listener;

    public DirectListener(FrontTable fronts, ILoggerFactory log)
    {
        _fronts = fronts;
        _log = log.CreateLogger<DirectListener>();
        _connections = new SocketConnectionContextFactory(
            new SocketConnectionFactoryOptions(), log.CreateLogger("Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets"));
    }

    /// <inheritdoc/>
    public EndPoint EndPoint => _listener!.EndPoint;

    /// <summary>Takes the listener, once.</summary>
    public void Open(LoopListener listener) => _listener = listener;

    /// <summary>Gives a connection to the framework for good.</summary>
    /// <param name="socket">Not a loop's any more; disposed here when nobody wants it.</param>
    /// <param name="arrived">What was read from it and not used.</param>
    /// <param name="place">Its place among all connections; given back when it ends.</param>
    public void HandOver(Socket socket, byte[] arrived, ConnectionPermit place)
    {
        if (!_handedOver.Writer.TryWrite((socket, arrived, place)))
        {
            socket.Dispose();
            place.LeaveBudget();
        }
    }

    /// <inheritdoc/>
    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        while (await _handedOver.Reader.WaitToReadAsync(cancellationToken))
        {
            while (_handedOver.Reader.TryRead(out var next))
            {
                if (Wrap(next.Socket, next.Arrived, next.Place) is { } connection)
                {
                    return connection;
                }
            }
        }

        return null;
    }

    /// <summary>Takes no more connections, lets requests that have begun be answered, closes the rest.</summary>
    public async ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        var stopped = _fronts.StopAsync(LastAnswers, cancellationToken);
        _listener!.Dispose();
        await stopped;
        _handedOver.Writer.TryComplete();
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        _listener!.Dispose();
        await _fronts.StopAsync(TimeSpan.Zero, CancellationToken.None);
        _handedOver.Writer.TryComplete();
        _fronts.Dispose();
        _connections.Dispose();
    }

    private ConnectionContext? Wrap(Socket socket, byte[] arrived, ConnectionPermit place)
    {
        try
        {
            var connection = _connections.Create(socket);
            connection.Transport = new PrefixedPipe(new PrefixedReader(arrived, connection.Transport.Input), connection.Transport.Output);
            connection.Features.Set(new KestrelPlace(connection, place));
            return connection;
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            Log.Lost(_log, fault.Message); // the peer was quicker
            socket.Dispose();
            place.LeaveBudget();
            return null;
        }
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Debug, "A connection was lost before the server had it: {Reason}", EventName = "HandedOverLost")]
        public static partial void Lost(ILogger logger, string reason);
    }
}
