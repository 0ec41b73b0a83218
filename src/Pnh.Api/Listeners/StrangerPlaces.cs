using System.Net;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core;

namespace Pnh.Api.Listeners;

/// <summary>
/// Connections that have not shown the cluster's key: few, fewer of one address, and none for longer than 5 s, whatever it sends. An edge shows its key within milliseconds, so where all places are held the stranger that has had one for
/// longest gives way: idle connections keep no edge out, and a linked edge holds none of these places. Thread-safe.
/// </summary>
internal sealed class StrangerPlaces(int most, TimeProvider time)
{
    private static readonly TimeSpan Within = TimeSpan.FromSeconds(5);
    private readonly Lock _gate = new();
    private readonly LinkedList<Stranger> _oldestFirst = new();

    /// <summary>A connection of the request's has shown the key.</summary>
    public static void Know(HttpContext context) => context.Features.Get<Stranger>()?.Leave();

    /// <summary>Gives each connection of the endpoint a place. In front of TLS.</summary>
    public void Guard(ListenOptions listen) => listen.Use(next => connection => RunAsync(next, connection));

    private async Task RunAsync(ConnectionDelegate next, ConnectionContext connection)
    {
        var stranger = new Stranger(this, connection);
        connection.Features.Set(stranger);
        Enter(stranger)?.Abort("another connection needs its place");
        using var late = time.CreateTimer(static state => ((Stranger)state!).AbortUnlessKnown(), stranger, Within, Timeout.InfiniteTimeSpan);
        try
        {
            await next(connection);
        }
        finally
        {
            stranger.Leave();
        }
    }

    // Gives the stranger that has to go for it; null = there was a place.
    private Stranger? Enter(Stranger stranger)
    {
        lock (_gate)
        {
            var ofAddress = _oldestFirst.Where(other => other.Address.Equals(stranger.Address)).Take(Math.Max(1, most / 2)).ToArray();
            var gone = ofAddress.Length == Math.Max(1, most / 2) ? ofAddress[0] : _oldestFirst.Count >= most ? _oldestFirst.First!.Value : null;
            if (gone is not null)
            {
                _oldestFirst.Remove(gone.Place);
            }

            _oldestFirst.AddLast(stranger.Place);
            return gone;
        }
    }

    private bool TryLeave(Stranger stranger)
    {
        lock (_gate)
        {
            if (stranger.Place.List is null)
            {
                return false;
            }

            _oldestFirst.Remove(stranger.Place);
            return true;
        }
    }

    private sealed class Stranger
    {
        private readonly StrangerPlaces _places;
        private readonly ConnectionContext _connection;

        public Stranger(StrangerPlaces places, ConnectionContext connection)
        {
            (_places, _connection) = (places, connection);
            Place = new LinkedListNode<Stranger>(this);
        }

        public LinkedListNode<Stranger> Place { get; }

        public IPAddress Address => (_connection.RemoteEndPoint as IPEndPoint)?.Address ?? IPAddress.None;

        public void Leave() => _places.TryLeave(this);

        public void AbortUnlessKnown()
        {
            if (_places.TryLeave(this))
            {
                Abort("it did not show the cluster's key within 5 s");
            }
        }

        public void Abort(string why) => _connection.Abort(new ConnectionAbortedException(why));
    }
}
