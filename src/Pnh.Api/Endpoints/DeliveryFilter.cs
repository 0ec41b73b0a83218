using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Api.Endpoints;

/// <summary>Which events of a user are asked for.</summary>
/// <param name="Device">Those of that device; null = of any.</param>
/// <param name="State">Those with a delivery in that state; null = in any.</param>
internal readonly record struct DeliveryFilter(string? Device, string? State)
{
    private bool IsAll => Device is null && State is null;

    /// <summary>True when one delivery of the user is of the device and in the state.</summary>
    public bool Passes(EventHistory share)
    {
        if (IsAll)
        {
            return true;
        }

        foreach (var delivery in new Timeline(share).Deliveries)
        {
            var state = delivery.Settled < 0 ? DeliveryStateNames.Pending : share.Milestones[delivery.Settled].State;
            if ((Device is null || Device == delivery.Device) && (State is null || State == state))
            {
                return true;
            }
        }

        return false;
    }
}
