using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Core.Shards;

/// <summary>Taking an event back from one user: what waits stops, what was shown is cleared over the channel that showed it.</summary>
internal sealed partial class Shard
{
    // A provider that is down gets a clear a few times; the screen is stale then anyway.
    private const int ClearAttempts = 5;
    private static readonly TimeSpan ClearWithin = TimeSpan.FromHours(1);

    /// <summary>
    /// Takes the event back from the user's devices, but for the one where it was answered. <paramref name="shown"/>: where a screen may have
    /// it; changed here.
    /// </summary>
    internal void Withdraw(
        UserKey key, Event accepted, Withdrawal withdrawal, Dictionary<string, ShownEvent.Shown> shown, UserSnapshot snapshot, string? exceptDevice)
    {
        lock (_gate)
        {
            _users.TryGetValue(key, out var user);
            foreach (var mailbox in user?.Mailboxes ?? [])
            {
                if (!IsDevice(mailbox.Device, exceptDevice) && mailbox.Find(accepted.Id) is { } item)
                {
                    NoteShown(shown, mailbox.Device, item);
                    Drop(mailbox, item, DeliveryState.Withdrawn, withdrawal.Reason);
                    ReplayRest(user!, mailbox);
                    RemoveIfEmpty(mailbox);
                }
            }

            foreach (var (device, where) in shown)
            {
                if (!IsDevice(device, exceptDevice))
                {
                    Clear(key, accepted, withdrawal, device, where, snapshot);
                }
            }
        }
    }

    private static void NoteShown(Dictionary<string, ShownEvent.Shown> shown, string device, MailboxItem item)
    {
        shown.TryGetValue(device, out var before);
        shown[device] = new ShownEvent.Shown(
            before.IsFramed || item.Session is not null,
            before.PushedOver ?? (item.Push is { IsInLane: true } push ? push.Lane!.Channel : null));
    }

    private void Clear(UserKey key, Event accepted, Withdrawal withdrawal, string device, in ShownEvent.Shown where, UserSnapshot snapshot)
    {
        if (where.IsFramed && _users.TryGetValue(key, out var user) && user.FindSession(device) is >= 0 and var index)
        {
            // A detached session too: what it will replay must not bring it back.
            var session = user.Sessions[index];
            if (session.Link.TryWithdraw(session.Key.Session, withdrawal))
            {
                NoteCleared(accepted, key, device, ChannelNames.WebSocket, null, null);
            }
        }

        if (where.PushedOver is { } channel && FindDevice(snapshot, device) is { } pushed
            && _hub.Planner.FindClear(accepted, pushed, channel) is var (via, address, account))
        {
            SendPush(new Delivery
            {
                Event = accepted,
                Withdrawal = withdrawal,
                User = key,
                Device = pushed,
                Address = address,
                Push = Plans.PushTiming.Now,
                Lane = _hub.Lanes.Get(via, account, accepted.Class),
            });
        }
    }

    private void CompleteClear(Delivery clear, in DeliveryResult result)
    {
        if (result.Status is DeliveryStatus.Throttled or DeliveryStatus.Unavailable or DeliveryStatus.NotConnected && clear.Attempts < ClearAttempts)
        {
            _wheel.Schedule(clear, WaitAfter(clear, result, ClearWithin));
            return;
        }

        NoteCleared(
            clear.Event,
            clear.User,
            clear.Device.Id,
            clear.Lane!.Channel,
            result.Status == DeliveryStatus.Accepted ? null : result.Reason ?? result.Status.Label(),
            result.ProviderId);
    }

    private void NoteCleared(Event accepted, UserKey key, string device, string channel, string? fault, string? providerId) =>
        _hub.Journal.Note(new(accepted.App, accepted.Id, accepted.Class, MilestoneKind.Cleared, _hub.Time.GetUtcNow())
        {
            User = key.User,
            Device = device,
            Channel = channel,
            Reason = fault,
            ProviderId = providerId,
        });

    private static Device? FindDevice(UserSnapshot snapshot, string id)
    {
        foreach (var device in snapshot.Devices)
        {
            if (IsDevice(device.Id, id))
            {
                return device;
            }
        }

        return null;
    }

    private static bool IsDevice(string device, string? other) => string.Equals(device, other, StringComparison.Ordinal);
}
