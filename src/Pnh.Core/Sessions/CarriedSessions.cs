using Pnh.Core.Events;

namespace Pnh.Core.Sessions;

/// <summary>
/// Sessions of other nodes that get the same transient event: given to each carrier many at a time, as a call for each of 2,000 sessions was most of what a hub did for a broadcast. Nothing leaves before
/// <see cref="Flush"/>: woken by its first sessions, a link sent those alone and the others after them. Not thread-safe.
/// </summary>
internal sealed class CarriedSessions(Event accepted)
{
    // A link or two for each edge.
    private readonly List<Share> _shares = [];

    /// <summary>Sessions that were added.</summary>
    public int Count { get; private set; }

    /// <summary>Sessions whose carrier took the event.</summary>
    public int Sent { get; private set; }

    /// <summary>Sessions whose carrier was too slow.</summary>
    public int Refused { get; private set; }

    /// <summary>The carrier's session of that number gets the event, at the latest with <see cref="Flush"/>.</summary>
    public void Add(ISessionCarrier carrier, long number)
    {
        var share = Of(carrier);
        share.Numbers[share.Count++] = number;
        Count++;
        if (share.Count == ISessionCarrier.Most)
        {
            share.IsLarge = true;
            Send(share);
        }
    }

    /// <summary>Gives the event to all that were added, and lets it leave. Once.</summary>
    public void Flush()
    {
        foreach (var share in _shares)
        {
            Send(share);
            share.Carrier.Flush(byCaller: share.IsLarge);
        }
    }

    private Share Of(ISessionCarrier carrier)
    {
        foreach (var share in _shares)
        {
            if (ReferenceEquals(share.Carrier, carrier))
            {
                return share;
            }
        }

        var first = new Share(carrier);
        _shares.Add(first);
        return first;
    }

    private void Send(Share share)
    {
        if (share.Count == 0)
        {
            return;
        }

        var isTaken = share.Carrier.TrySend(share.Numbers.AsSpan(0, share.Count), accepted);
        Sent += isTaken ? share.Count : 0;
        Refused += isTaken ? 0 : share.Count;
        share.Count = 0;
    }

    private sealed class Share(ISessionCarrier carrier)
    {
        public ISessionCarrier Carrier { get; } = carrier;

        public long[] Numbers { get; } = new long[ISessionCarrier.Most];

        public int Count { get; set; }

        /// <summary>True once there were <see cref="ISessionCarrier.Most"/>: such an event is worth a send of its own, where smaller ones leave together.</summary>
        public bool IsLarge { get; set; }
    }
}
