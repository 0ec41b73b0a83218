using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Core.Deliveries;

/// <summary>One event to one device: what a channel is handed. The part that a channel sees never changes.</summary>
public class Delivery
{
    /// <summary>The event, shared by all its deliveries.</summary>
    public required Event Event { get; init; }

    /// <summary>Whose device.</summary>
    public required UserKey User { get; init; }

    /// <summary>The device as it was when the plan was made.</summary>
    public required Device Device { get; init; }

    /// <summary>The push address to use; null on the websocket channel.</summary>
    public PushAddress? Address { get; set; }
}
