using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Pnh.Channels.Net.Epoll;

namespace Pnh.Api.Listeners;

/// <summary>A connection of Kestrel's among those that the process may have: idle while none of its requests is under way. Thread-safe.</summary>
internal sealed class KestrelPlace : ConnectionPermit
{
    private readonly ConnectionContext _connection;
    private IIdleConnection? _socket;
    private int _requests;
    private bool _isKnown;

    /// <summary>Of a connection that the budget has counted.</summary>
    public KestrelPlace(ConnectionContext connection, ConnectionBudget budget, ulong address)
        : base(budget, address) => _connection = connection;

    /// <summary>Of a connection that a loop served before.</summary>
    public KestrelPlace(ConnectionContext connection, ConnectionPermit former)
        : base(former) => _connection = connection;

    /// <summary>Gives the places of the endpoint's connections back when they end. In front of everything else.</summary>
    public static void GiveBack(ListenOptions options) => options.Use(static next => connection =>
        connection.Features.Get<KestrelPlace>() is { } place ? RunAsync(next, connection, place) : next(connection));

    /// <summary>Notes when requests are under way, and what proves a credential. The first middleware.</summary>
    public static Func<RequestDelegate, RequestDelegate> Watch() => static next => context =>
        context.Features.Get<KestrelPlace>() is { } place ? place.ServeAsync(next, context) : next(context);

    /// <summary>The connection is a WebSocket's from now on, which says itself whether it is idle.</summary>
    public void Upgraded(IIdleConnection socket) => Volatile.Write(ref _socket, socket);

    /// <inheritdoc/>
    public override GiveUp TryGiveUp(bool alsoKnown)
    {
        if (Volatile.Read(ref _socket) is { } socket)
        {
            return socket.TryGiveUp(alsoKnown);
        }

        // The budget knows it before it is made.
        if (Volatile.Read(ref _requests) > 0 || _connection is null)
        {
            return GiveUp.Busy;
        }

        if (Volatile.Read(ref _isKnown) && !alsoKnown)
        {
            return GiveUp.Known;
        }

        ThreadPool.UnsafeQueueUserWorkItem(static connection => connection.Abort(), _connection, preferLocal: false);
        return GiveUp.Going;
    }

    private static async Task RunAsync(ConnectionDelegate next, ConnectionContext connection, KestrelPlace place)
    {
        try
        {
            await next(connection);
        }
        finally
        {
            place.LeaveBudget();
        }
    }

    private async Task ServeAsync(RequestDelegate next, HttpContext context)
    {
        Interlocked.Increment(ref _requests);
        try
        {
            await next(context);
        }
        finally
        {
            if (!_isKnown && context.Features.Get<Access.Caller>() is not null)
            {
                Volatile.Write(ref _isKnown, true);
            }

            Interlocked.Decrement(ref _requests);
        }
    }
}
