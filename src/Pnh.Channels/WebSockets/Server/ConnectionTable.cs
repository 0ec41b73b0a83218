namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// All connections, each at a place of its own beside the time of its next look, so that going round reads 16 bytes of each instead of its objects: 18,000
/// idle ones took 15 ms of a core each second, nearly all of it waiting for memory. Thread-safe; one thread at a time goes round.
/// </summary>
internal sealed class ConnectionTable
{
    /// <summary>Look at the next round.</summary>
    internal const long Soon = 0;

    // Chunks stay where they are when the table grows: a time is written without a lock.
    private const int ChunkPlaces = 1024;

    private readonly Lock _gate = new();
    private readonly Stack<int> _free = new();
    private readonly Stack<int> _left = new();
    private Place[][] _chunks = [];
    private int _places;
    private int _count;

    /// <summary>Connections now.</summary>
    internal int Count => Volatile.Read(ref _count);

    /// <summary>Places from 0 on that may hold one.</summary>
    internal int Places => Volatile.Read(ref _places);

    /// <summary>Gives it a place, to be looked at soon. Returns how many there are with it.</summary>
    internal int Add(Connection connection)
    {
        lock (_gate)
        {
            if (!_free.TryPop(out var place))
            {
                place = _places;
                if (place == _chunks.Length * ChunkPlaces)
                {
                    Volatile.Write(ref _chunks, [.. _chunks, new Place[ChunkPlaces]]);
                }
            }

            connection.Place = place;
            ref var at = ref At(place);
            Volatile.Write(ref at.LookAt, Soon);
            Volatile.Write(ref at.Connection, connection);
            Volatile.Write(ref _places, Math.Max(_places, place + 1));
            return ++_count;
        }
    }

    /// <summary>False = it was not there.</summary>
    internal bool Remove(Connection connection)
    {
        lock (_gate)
        {
            if (connection.Place < 0 || !ReferenceEquals(At(connection.Place).Connection, connection))
            {
                return false;
            }

            At(connection.Place).Connection = null;
            _left.Push(connection.Place);
            _count--;
            return true;
        }
    }

    /// <summary>The connection at a place when its time has come; null = not yet, or there is none.</summary>
    internal Connection? FindDue(int place, long now)
    {
        ref var at = ref At(place);
        return Volatile.Read(ref at.LookAt) <= now ? Volatile.Read(ref at.Connection) : null;
    }

    /// <summary>When to look at the place next, as a timestamp.</summary>
    internal void LookAt(int place, long when) => Volatile.Write(ref At(place).LookAt, when);

    /// <summary>
    /// The end of a round. Only now do others get the places of those who left: the thread that looks at one of those may still write its time.
    /// </summary>
    internal void EndRound()
    {
        lock (_gate)
        {
            while (_left.TryPop(out var place))
            {
                _free.Push(place);
            }
        }
    }

    /// <summary>All that are there from before the call until after it, perhaps some of those that come or leave meanwhile.</summary>
    internal IEnumerable<Connection> All()
    {
        for (var place = 0; place < Places; place++)
        {
            if (FindDue(place, long.MaxValue) is { } connection)
            {
                yield return connection;
            }
        }
    }

    private ref Place At(int place) => ref Volatile.Read(ref _chunks)[place / ChunkPlaces][place % ChunkPlaces];

    private struct Place
    {
        public Connection? Connection;
        public long LookAt;
    }
}
