using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// How many connections a listener may have open, so that descriptors are left for everything else: without one the runtime cannot start a thread and ends
/// the process. When it is full, the oldest connection that is idle and has shown no credential makes room, then the oldest idle one that has; requests under
/// way and sessions stay, and if there is nothing else, who comes is refused. Thread-safe; nothing waits.
/// </summary>
internal sealed partial class ConnectionBudget
{
    // Places are given back by other threads, moments after they were asked for: so many connections may there be too many.
    private const int MostGoing = 16;

    // Requests under way that one accept looks at; the next accept goes on behind them.
    private const int MostLooks = 64;

    private readonly Lock _gate = new();
    private readonly PlaceList _newcomers = new();
    private readonly PlaceList _known = new();
    private readonly Dictionary<ulong, int> _addresses = [];
    private readonly int _highestDescriptor;
    private readonly int _mostGoing;
    private readonly BudgetLog _log;
    private int _count;
    private int _going;
    private long _evicted;
    private long _full;
    private long _crowded;
    private long _short;

    /// <param name="name">Of the listener, for log and metrics.</param>
    /// <param name="capacity">Connections at once.</param>
    /// <param name="perAddress">Of them from one address (of IPv6: one /64); 0 = any number. Loopback is not counted.</param>
    /// <param name="highestDescriptor">A connection whose descriptor is higher is refused: the process has nearly all open that it may.</param>
    /// <param name="clock">Time.</param>
    /// <param name="log">At most a line a second for each cause.</param>
    public ConnectionBudget(string name, int capacity, int perAddress, int highestDescriptor, TimeProvider clock, ILogger log)
    {
        Name = name;
        Capacity = capacity;
        PerAddress = perAddress;
        _highestDescriptor = highestDescriptor;
        _mostGoing = Math.Clamp(capacity / 8, 1, MostGoing);
        _log = new BudgetLog(name, clock, log);
    }

    /// <summary>Of the listener.</summary>
    public string Name { get; }

    /// <summary>Connections at once.</summary>
    public int Capacity { get; }

    /// <summary>Of them from one address; 0 = any number.</summary>
    public int PerAddress { get; }

    /// <summary>Connections now.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Idle connections that were asked to make room.</summary>
    public long Evicted => Volatile.Read(ref _evicted);

    /// <summary>Connections refused because no other could make room.</summary>
    public long RefusedFull => Volatile.Read(ref _full);

    /// <summary>Connections refused because their address had as many as it may.</summary>
    public long RefusedAddress => Volatile.Read(ref _crowded);

    /// <summary>Connections refused because the process had nearly all descriptors open.</summary>
    public long RefusedDescriptors => Volatile.Read(ref _short);

    /// <summary>A budget that nothing ever fills; where the system has no limit, and in tests.</summary>
    public static ConnectionBudget Unlimited(TimeProvider clock, ILogger log) => new("any", int.MaxValue - MostGoing, 0, int.MaxValue, clock, log);

    /// <summary>Counts a connection that was just accepted; false = close it. A <see cref="ConnectionPermit"/> follows, and gives it back.</summary>
    /// <param name="descriptor">The connection's: the system gives the lowest that is free, so it says how many are open.</param>
    /// <param name="address">As <see cref="PeerAddress.KeyOf(int)"/> says; 0 = not counted.</param>
    public bool TryEnter(int descriptor, ulong address)
    {
        lock (_gate)
        {
            if (descriptor > _highestDescriptor)
            {
                _short++;
                _log.Short();
                return false;
            }

            if (CountsAddress(address) && _addresses.GetValueOrDefault(address) >= PerAddress)
            {
                _crowded++;
                _log.Crowded(PerAddress);
                return false;
            }

            // More than one makes room where another that was asked has stayed: the number never passes the capacity and those going.
            while (_count - _going >= Capacity)
            {
                if (!TryMakeRoom())
                {
                    _full++;
                    _log.Full(Capacity, isRefused: true);
                    return false;
                }
            }

            _count++;
            if (CountsAddress(address))
            {
                _addresses[address] = _addresses.GetValueOrDefault(address) + 1;
            }

            return true;
        }
    }

    internal void Add(ConnectionPermit place)
    {
        lock (_gate)
        {
            _newcomers.AddLast(place);
        }
    }

    internal void Replace(ConnectionPermit former, ConnectionPermit place)
    {
        lock (_gate)
        {
            Unlink(former);
            _going -= former.State == PlaceState.Going ? 1 : 0;
            former.State = PlaceState.Left;
            _newcomers.AddLast(place);
        }
    }

    internal void Leave(ConnectionPermit place)
    {
        lock (_gate)
        {
            if (place.State == PlaceState.Left)
            {
                return;
            }

            Unlink(place);
            _going -= place.State == PlaceState.Going ? 1 : 0;
            place.State = PlaceState.Left;
            _count--;
            if (CountsAddress(place.Address) && --CollectionsMarshal.GetValueRefOrNullRef(_addresses, place.Address) == 0)
            {
                _addresses.Remove(place.Address);
            }
        }
    }

    internal void Stay(ConnectionPermit place)
    {
        lock (_gate)
        {
            if (place.State == PlaceState.Going)
            {
                _going--;
                place.State = PlaceState.Newcomer; // the next look finds out what it is
                _newcomers.AddLast(place);
            }
        }
    }

    private bool CountsAddress(ulong address) => address != 0 && PerAddress > 0;

    private bool TryMakeRoom()
    {
        if (_going < _mostGoing && (TryEvict(_newcomers, alsoKnown: false) || TryEvict(_known, alsoKnown: true)))
        {
            _evicted++;
            _log.Full(Capacity, isRefused: false);
            return true;
        }

        return false;
    }

    // The oldest first. A connection that carries a session leaves the list for good, so that looking past thousands of them is paid once.
    private bool TryEvict(PlaceList places, bool alsoKnown)
    {
        for (var looks = Math.Min(MostLooks, places.Count); looks > 0 && places.First is { } place;)
        {
            var answer = place.TryGiveUp(alsoKnown);
            places.Remove(place);
            switch (answer)
            {
                case GiveUp.Going:
                    place.State = PlaceState.Going;
                    _going++;
                    return true;
                case GiveUp.Settled:
                    place.State = PlaceState.Settled;
                    break;
                case GiveUp.Known:
                    place.State = PlaceState.Known;
                    _known.AddLast(place);
                    break;
                default:
                    places.AddLast(place);
                    looks--;
                    break;
            }
        }

        return false;
    }

    private void Unlink(ConnectionPermit place)
    {
        switch (place.State)
        {
            case PlaceState.Newcomer:
                _newcomers.Remove(place);
                break;
            case PlaceState.Known:
                _known.Remove(place);
                break;
        }
    }
}
