using Microsoft.Extensions.Logging;
using Pnh.Core.Addresses;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Lanes;
using Pnh.Core.Push;
using Pnh.Core.Shards;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Core.Hubs;

/// <summary>
/// Between lanes and shards: the address before each attempt, since a push may wait for hours and goes only where its device still is; and what became of the attempt. Thread-safe.
/// </summary>
internal sealed partial class LaneReports(IDeviceStore devices, AddressRests rests, HubMetrics metrics, TimeProvider time, ILogger log) : ILaneOwner
{
    // One read of the registry's cache per attempt: nothing is allocated when the user is cached, since nothing waits then.
    public async ValueTask<bool> PrepareAsync(DeliveryLane lane, Delivery delivery)
    {
        try
        {
            return Prepare(lane, delivery, await devices.GetUserAsync(delivery.User, CancellationToken.None).ConfigureAwait(false));
        }
        catch (StoreUnavailableException)
        {
            // Where the device is now cannot be read: to send would risk the wrong phone.
            Completed(lane, delivery, new DeliveryResult { Status = DeliveryStatus.Unavailable, Reason = ShardContext.StoreUnavailable, IsUnasked = true });
            return false;
        }
    }

    public void AnswerIsLate(DeliveryLane lane, Delivery delivery, in DeliveryResult soFar)
    {
        var push = (PendingPush)delivery;
        push.Shard.Pushes.AnswerIsLate(push, soFar);
    }

    public void Completed(DeliveryLane lane, Delivery delivery, in DeliveryResult answer)
    {
        var @class = delivery.Event.Class;
        var result = rests.Judge(lane.Channel, lane.Account, delivery, answer);
        if (result.Status != DeliveryStatus.Expired)
        {
            // An expiry is counted where the delivery ends, whether it waited in a lane or not.
            metrics.DeliveryCounted(lane.Channel, @class, result.Status);
        }

        if (result.Status == DeliveryStatus.Accepted && delivery.Withdrawal is null)
        {
            metrics.AcceptToProvider(lane.Channel, @class, time.GetElapsedTime(delivery.Event.AcceptedTimestamp), delivery.Event.TraceParent);
            EventTraces.Pushed(delivery.Event, lane.Channel, time);
        }

        if (result is { Status: DeliveryStatus.Rejected } or { Status: DeliveryStatus.Misconfigured, RetryAfter: null })
        {
            Log.Refused(log, lane.Channel, delivery.Event.Id, delivery.User.App, result.Reason);
        }

        Complete(delivery, result);
    }

    public void Failed(DeliveryLane lane, Delivery delivery, Exception bug)
    {
        Log.SenderBroke(log, lane.Channel, delivery.Event.Id, delivery.User.App, bug);
        metrics.DeliveryCounted(lane.Channel, delivery.Event.Class, DeliveryStatus.Rejected);
        Complete(delivery, DeliveryResult.Of(DeliveryStatus.Rejected, "hub-error"));
    }

    private static void Complete(Delivery delivery, in DeliveryResult result)
    {
        var push = (PendingPush)delivery;
        push.Shard.Complete(push, result);
    }

    private bool Prepare(DeliveryLane lane, Delivery delivery, UserSnapshot snapshot)
    {
        var device = snapshot.Find(delivery.Device.Id);
        if (device?.FindSuccessor(delivery.Address!) is { } current)
        {
            if (!ReferenceEquals(current, delivery.Address))
            {
                delivery.MoveTo(current);
            }

            if (!rests.Holds(lane.Channel, lane.Account, delivery))
            {
                return true;
            }

            Completed(lane, delivery, new DeliveryResult { Status = DeliveryStatus.Rejected, Reason = AddressRests.Reason, IsUnasked = true });
            return false;
        }

        metrics.DeliveryCounted(lane.Channel, delivery.Event.Class, DeliveryStatus.AddressDead);
        var push = (PendingPush)delivery;
        push.Shard.AddressGone(push, isDeviceGone: device is null);
        return false;
    }

    private static partial class Log
    {
        [LoggerMessage(5, LogLevel.Warning, "{Channel} refused event {Id} of app {App} for good: {Reason}", EventName = "Refused")]
        internal static partial void Refused(ILogger logger, string channel, string id, string app, string? reason);

        [LoggerMessage(6, LogLevel.Error, "The {Channel} sender broke on event {Id} of app {App}; this is a bug.", EventName = "SenderBroke")]
        internal static partial void SenderBroke(ILogger logger, string channel, string id, string app, Exception bug);
    }
}
