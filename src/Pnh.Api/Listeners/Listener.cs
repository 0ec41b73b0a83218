using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Pnh.Api.Listeners;

/// <summary>Where a connection came in.</summary>
internal enum Listener
{
    /// <summary>Publishers and clients. Also every listener that was not marked.</summary>
    Public = 0,

    /// <summary>Operators: metrics, console, keys.</summary>
    Operations = 1,
}

/// <summary>
/// The mark on a connection that says which listener took it. It is put there by the listener itself, so nothing that a client sends (Host
/// header, target) can change it, and it needs no port numbers: it holds with port 0 and with Unix sockets.
/// </summary>
internal sealed class ListenerMark
{
    private static readonly ListenerMark Operations = new(Listener.Operations);

    private ListenerMark(Listener listener)
    {
        Listener = listener;
    }

    /// <summary>Which one.</summary>
    public Listener Listener { get; }

    /// <summary>Marks every connection of a Kestrel endpoint as an operator's; connections of other endpoints count as public.</summary>
    public static void MarkOperations(ListenOptions options) => options.Use(static next => connection =>
    {
        connection.Features.Set(Operations);
        return next(connection);
    });

    /// <summary>The listener of a request. Works for HTTP/1.1 and HTTP/2: requests see the features of their connection.</summary>
    public static Listener Of(HttpContext context) => context.Features.Get<ListenerMark>()?.Listener ?? Listener.Public;
}
