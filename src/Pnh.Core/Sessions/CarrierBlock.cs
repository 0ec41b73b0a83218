using System.Runtime.CompilerServices;
using Pnh.Core.Events;

namespace Pnh.Core.Sessions;

/// <summary>
/// Sessions of other nodes that get the same transient event: given to each carrier in one call, as a call for each of 2,000 sessions was most of what a hub did for a broadcast. Not thread-safe.
/// </summary>
/// <param name="accepted">The event.</param>
/// <param name="reached">Takes the carriers that were given something, to be flushed by the caller.</param>
internal ref struct CarrierBlock(Event accepted, ref CarrierSet reached)
{
    private readonly Event _accepted = accepted;
    private readonly ref CarrierSet _reached = ref reached;
    private Slots<ISessionCarrier> _carriers;
    private Slots<ISessionLink> _sessions;
    private int _count;

    /// <summary>Sessions whose carrier took the event.</summary>
    public int Sent { get; private set; }

    /// <summary>Sessions whose carrier was too slow.</summary>
    public int Refused { get; private set; }

    /// <summary>The session gets the event, at the latest with the next <see cref="Send"/>.</summary>
    public void Add(ISessionCarrier carrier, ISessionLink session)
    {
        if (_count == ISessionCarrier.Most)
        {
            Send();
        }

        _carriers[_count] = carrier;
        _sessions[_count++] = session;
    }

    /// <summary>Gives the event to all that were added.</summary>
    public void Send()
    {
        for (var first = 0; first < _count;)
        {
            var carrier = _carriers[first];
            var end = Gather(carrier, first + 1);
            var sessions = _sessions[first..end];
            if (carrier.TrySend(sessions, _accepted))
            {
                _reached.Add(carrier);
                Sent += sessions.Length;
            }
            else
            {
                Refused += sessions.Length;
            }

            first = end;
        }

        _count = 0;
    }

    // Brings the other sessions of this carrier together from here on. Returns where they end.
    private int Gather(ISessionCarrier carrier, int end)
    {
        for (var i = end; i < _count; i++)
        {
            if (ReferenceEquals(_carriers[i], carrier))
            {
                (_carriers[i], _carriers[end]) = (_carriers[end], carrier);
                (_sessions[i], _sessions[end]) = (_sessions[end], _sessions[i]);
                end++;
            }
        }

        return end;
    }

    [InlineArray(ISessionCarrier.Most)]
    private struct Slots<T>
    {
        private T _first;
    }
}
