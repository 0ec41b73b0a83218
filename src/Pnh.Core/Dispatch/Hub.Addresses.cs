using Pnh.Core.Addresses;
using Pnh.Core.Lanes;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Dispatch;

/// <summary>Addresses between plan and attempt: a push may wait for hours, and goes only where its device still is.</summary>
public sealed partial class Hub
{
    // One read of the registry's cache per attempt: nothing is allocated when the user is cached, since nothing waits then.
    async ValueTask<bool> ILaneOwner.PrepareAsync(DeliveryLane lane, Delivery delivery)
    {
        try
        {
            return Prepare(lane, delivery, await _devices.GetUserAsync(delivery.User, CancellationToken.None).ConfigureAwait(false));
        }
        catch (StoreUnavailableException)
        {
            // Where the device is now cannot be read: to send would risk the wrong phone.
            ((ILaneOwner)this).Completed(
                lane, delivery, new DeliveryResult { Status = DeliveryStatus.Unavailable, Reason = ShardContext.StoreUnavailable, IsUnasked = true });
            return false;
        }
    }

    private bool Prepare(DeliveryLane lane, Delivery delivery, UserSnapshot snapshot)
    {
        var device = FindDevice(snapshot, delivery.Device.Id);
        if (device?.FindSuccessor(delivery.Address!) is { } current)
        {
            if (!ReferenceEquals(current, delivery.Address))
            {
                delivery.MoveTo(current);
            }

            if (!Rests.Holds(lane.Channel, lane.Account, delivery))
            {
                return true;
            }

            ((ILaneOwner)this).Completed(lane, delivery, new DeliveryResult { Status = DeliveryStatus.Rejected, Reason = AddressRests.Reason, IsUnasked = true });
            return false;
        }

        _context.Metrics.DeliveryCounted(lane.Channel, delivery.Event.Class, DeliveryStatus.AddressDead);
        ShardOf(delivery.User).AddressGone((PendingPush)delivery, isDeviceGone: device is null);
        return false;
    }

    private static Device? FindDevice(UserSnapshot snapshot, string id)
    {
        for (var i = 0; i < snapshot.Devices.Count; i++)
        {
            if (string.Equals(snapshot.Devices[i].Id, id, StringComparison.Ordinal))
            {
                return snapshot.Devices[i];
            }
        }

        return null;
    }
}
