using Pnh.Core.Deliveries;
using Pnh.Core.Plans;

namespace Pnh.Core.Shards;

/// <summary>What a shard keeps of a user while there is something to keep: sessions and open deliveries, oldest first.</summary>
internal sealed class UserState
{
    private HashSet<string>? _behind;

    /// <summary>Live sessions, at most one per device.</summary>
    internal List<LiveSession> Sessions { get; } = [];

    /// <summary>Deliveries without an end yet.</summary>
    internal List<Delivery> Pending { get; } = [];

    internal bool IsIdle => Sessions.Count == 0 && Pending.Count == 0;

    /// <summary>True while the device's session has not been sent all that waits for it.</summary>
    internal bool IsBehind(string device) => _behind?.Contains(device) == true;

    internal void SetBehind(string device, bool isBehind)
    {
        if (isBehind)
        {
            (_behind ??= new HashSet<string>(StringComparer.Ordinal)).Add(device);
        }
        else
        {
            _behind?.Remove(device);
        }
    }

    internal int FindSession(string device) =>
        Sessions.FindIndex(s => string.Equals(s.Key.Device, device, StringComparison.Ordinal));

    /// <summary>The open delivery of an event to a device; null when it ended or never was. Searched from the newest: acks come soon.</summary>
    internal Delivery? FindPending(string device, string eventId)
    {
        for (var i = Pending.Count - 1; i >= 0; i--)
        {
            var delivery = Pending[i];
            // The device first: one event to many devices is the long list, and its ids differ early.
            if (string.Equals(delivery.Device.Id, device, StringComparison.Ordinal)
                && string.Equals(delivery.Event.Id, eventId, StringComparison.Ordinal))
            {
                return delivery;
            }
        }

        return null;
    }
}
