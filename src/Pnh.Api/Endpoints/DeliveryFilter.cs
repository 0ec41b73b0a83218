using Pnh.Api.Bodies;
using Pnh.Channels.Apns;
using Pnh.Channels.Fcm;
using Pnh.Channels.WebPush;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Push;

namespace Pnh.Api.Endpoints;

/// <summary>Which events are asked for: those with one delivery of all that is given.</summary>
/// <param name="Device">To that device; null = to any.</param>
/// <param name="State">In that state; null = in any.</param>
/// <param name="Channel">That ended on that channel, <see cref="ChannelNames.None"/> = on none; null = on any.</param>
internal readonly record struct DeliveryFilter(string? Device, string? State, string? Channel)
{
    private static readonly string[] Channels = [ChannelNames.WebSocket, ApnsChannel.ChannelName, FcmChannel.ChannelName, WebPushChannel.ChannelName, ChannelNames.None];

    /// <summary>Not one whose device is gone: a tab that was closed is nobody's fault.</summary>
    public bool LeavesOutGone { get; init; }

    /// <summary>True when nothing is given.</summary>
    public bool IsAll => this == default;

    /// <summary>The parameters <c>device</c>, <c>state</c> and <c>channel</c>.</summary>
    public static DeliveryFilter Read(QueryReader query) => new(query.Name("device"), query.State("state"), query.OneOf("channel", Channels));

    /// <summary>True when one delivery is as it is asked for.</summary>
    public bool Passes(EventHistory share)
    {
        if (IsAll)
        {
            return true;
        }

        foreach (var delivery in new Timeline(share).Deliveries)
        {
            if (Passes(delivery, share.Milestones))
            {
                return true;
            }
        }

        return false;
    }

    private bool Passes(Timeline.Chain delivery, IReadOnlyList<Milestone> milestones)
    {
        var isPending = delivery.Settled < 0;
        return (Device is null || Device == delivery.Device)
            && (State is null || State == (isPending ? DeliveryStateNames.Pending : milestones[delivery.Settled].State))
            && !(LeavesOutGone && !isPending && milestones[delivery.Settled].Reason == PlanReasons.DeviceGone)
            && (Channel is null || (!isPending && Channel == (milestones[delivery.Settled].Channel ?? ChannelNames.None)));
    }
}
