using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Plans;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>What the journal is told of a delivery, step by step. Waits for nothing. Thread-safe.</summary>
internal sealed class DeliveryNotes(IEventJournal journal)
{
    /// <summary>It waits for its device alone, and is about to leave memory.</summary>
    internal void Rested(Mailbox mailbox, MailboxItem item, DateTimeOffset now) =>
        journal.Note(Of(mailbox, item, MilestoneKind.Rested, now) with
        {
            NextAttemptAt = item.ExpiresAt,
            State = item.IsSettled ? item.State.Label() : null,
            IsAlone = item.Progress.IsAlone,
            CollapseKey = item.CollapseKey,
        });

    internal void Planned(Mailbox mailbox, MailboxItem item, in DevicePlan plan, DateTimeOffset now) =>
        journal.Note(Of(mailbox, item, MilestoneKind.Planned, now) with { Reason = plan.Reason, Channel = plan.Channel?.Name, IsKept = item.IsKept });

    /// <summary>Its push waits for quiet hours to end.</summary>
    internal void HeldBack(Mailbox mailbox, MailboxItem item, string channel, QuietHold quiet, DateTimeOffset now) =>
        journal.Note(Of(mailbox, item, MilestoneKind.Held, now) with { Channel = channel, Reason = quiet.Reason, NextAttemptAt = quiet.Until });

    internal void Framed(EventProgress progress, UserKey key, string device, DateTimeOffset now) =>
        journal.Note(Of(progress, MilestoneKind.Framed, key, device, now) with { Channel = ChannelNames.WebSocket });

    internal void Settled(Mailbox mailbox, MailboxItem item, string? reason, string? channel, string? providerId, bool isKept, DateTimeOffset now) =>
        journal.Note(Of(mailbox, item, MilestoneKind.Settled, now) with
        {
            State = item.State.Label(),
            Reason = reason,
            Channel = item.State is DeliveryState.Acked ? ChannelNames.WebSocket : channel,
            ProviderId = providerId,
            IsKept = isKept,
        });

    /// <summary>One that rested ends: it has its terminal state, or had it before.</summary>
    internal void RestEnded(in RestingDelivery resting, DeliveryState state, string? reason, DateTimeOffset now) =>
        journal.Note(new(resting.User.App, resting.Event, resting.Class, resting.IsSettled ? MilestoneKind.Dropped : MilestoneKind.Settled, now)
        {
            User = resting.User.User,
            Device = resting.Device,
            State = resting.IsSettled ? null : state.Label(),
            Reason = reason,
        });

    /// <summary>One that was planned and is at its end at once.</summary>
    internal void Settled(EventProgress progress, UserKey key, string device, DeliveryState state, string? reason, DateTimeOffset now) =>
        journal.Note(Of(progress, MilestoneKind.Settled, key, device, now) with { State = state.Label(), Reason = reason });

    internal void AckedLate(Mailbox mailbox, MailboxItem item, DateTimeOffset now) => journal.Note(Of(mailbox, item, MilestoneKind.AckedLate, now));

    internal void Dropped(Mailbox mailbox, MailboxItem item, string reason, DateTimeOffset now) =>
        journal.Note(Of(mailbox, item, MilestoneKind.Dropped, now) with { Reason = reason });

    /// <summary>Each attempt has its line. An outage holds everything back again and again: once for each reason is news, at once, so that a publisher can take another way.</summary>
    internal void Attempt(PendingPush delivery, in DeliveryResult result, DateTimeOffset? next, DateTimeOffset now)
    {
        var reason = result.Reason ?? result.Status.Label();
        var isHeld = result.IsHeld || result.Status == DeliveryStatus.Misconfigured;
        if (isHeld)
        {
            delivery.Setbacks ??= new PushSetbacks();
            if (string.Equals(delivery.Setbacks.HeldFor, reason, StringComparison.Ordinal))
            {
                return;
            }

            delivery.Setbacks.HeldFor = reason;
        }

        Tried(delivery, isHeld ? MilestoneKind.Held : MilestoneKind.Retry, reason, next, now);
    }

    internal void Tried(PendingPush delivery, MilestoneKind kind, string reason, DateTimeOffset? next, DateTimeOffset now) =>
        journal.Note(Of(delivery.Item!.Progress, kind, delivery.User, delivery.Device.Id, now) with
        {
            Channel = delivery.Lane.Channel,
            Reason = reason,
            Attempts = delivery.Attempts,
            NextAttemptAt = next,
        });

    /// <summary>The session's ack was faster: the notification is on the screen all the same, and who takes the event back has to know.</summary>
    internal void PushedLate(PendingPush delivery, string? providerId, DateTimeOffset now) =>
        journal.Note(Of(delivery.Event, MilestoneKind.PushedLate, delivery.User, delivery.Device.Id, now) with { Channel = delivery.Lane.Channel, ProviderId = providerId });

    /// <param name="accepted">What was cleared.</param>
    /// <param name="key">From whose screen.</param>
    /// <param name="device">Which device of the user.</param>
    /// <param name="channel">Over which channel.</param>
    /// <param name="fault">Why it was not; null = it was.</param>
    /// <param name="providerId">The provider's id; null = none.</param>
    /// <param name="now">The time.</param>
    internal void Cleared(Event accepted, UserKey key, string device, string channel, string? fault, string? providerId, DateTimeOffset now) =>
        journal.Note(Of(accepted, MilestoneKind.Cleared, key, device, now) with { Channel = channel, Reason = fault, ProviderId = providerId });

    private static Milestone Of(Mailbox mailbox, MailboxItem item, MilestoneKind kind, DateTimeOffset now) => Of(item.Progress, kind, mailbox.User.Key, mailbox.Device, now);

    private static Milestone Of(EventProgress progress, MilestoneKind kind, UserKey user, string device, DateTimeOffset now) =>
        new(progress.App, progress.Id, progress.Class, kind, now) { User = user.User, Device = device };

    private static Milestone Of(Event accepted, MilestoneKind kind, UserKey user, string device, DateTimeOffset now) =>
        new(accepted.App, accepted.Id, accepted.Class, kind, now) { User = user.User, Device = device };
}
