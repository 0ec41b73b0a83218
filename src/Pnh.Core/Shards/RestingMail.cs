using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>
/// What only waits for its device leaves memory once the journal has it, and is read when the device comes. From <see cref="End"/> on, members are called under the shard's gate; those before take it.
/// </summary>
internal sealed class RestingMail(ShardState state, Settlement settlement, SessionReplay replay)
{
    private readonly ShardContext _hub = state.Hub;

    /// <summary>Notes what may leave memory now, and adds it, up to so many. <see cref="Rest"/> follows when its note is on stable storage, else <see cref="RestLater"/>.</summary>
    internal void Note(List<RestingItem> noted, int most)
    {
        using (state.Enter())
        {
            var taken = Math.Min(state.Resting.Count, Math.Max(0, most - noted.Count));
            foreach (var (mailbox, item) in CollectionsMarshal.AsSpan(state.Resting)[..taken])
            {
                if (!settlement.MayRest(mailbox, item))
                {
                    continue;
                }

                if (!item.IsRestNoted)
                {
                    item.IsRestNoted = true;
                    _hub.Notes.Rested(mailbox, item, state.Now);
                }

                noted.Add(new RestingItem(state.Shard, mailbox, item));
            }

            state.Resting.RemoveRange(0, taken);
        }
    }

    /// <summary>Lets it leave memory, unless its device came meanwhile.</summary>
    internal void Rest(Mailbox mailbox, MailboxItem item)
    {
        using (state.Enter())
        {
            if (settlement.MayRest(mailbox, item))
            {
                Leave(mailbox, item);
                settlement.RemoveIfEmpty(mailbox);
            }
        }
    }

    /// <summary>The journal could not write its note yet, and keeps it; or has lost it, so that it has to be told again.</summary>
    internal void RestLater(Mailbox mailbox, MailboxItem item, bool isNoteLost)
    {
        using (state.Enter())
        {
            item.IsRestNoted = !isNoteLost;
            state.Resting.Add((mailbox, item));
        }
    }

    /// <summary>Begins to read what rests for the device, if anything does. Its mailbox; null = nothing waits for it.</summary>
    internal Mailbox? Read(UserKey key, string device)
    {
        using (state.Enter())
        {
            var mailbox = FindAndRead(state.GetOrAddUser(key), device);
            state.RemoveIfIdle(key);
            return mailbox;
        }
    }

    /// <summary>What rested for the device, oldest first. A session gets it before what came meanwhile.</summary>
    internal void Take(Mailbox mailbox, IReadOnlyList<Mail> mail)
    {
        using (state.Enter())
        {
            mailbox.IsReading = false;
            foreach (var each in mail)
            {
                if (mailbox.Find(each.Event.Id) is null && mailbox.TakenBack?.Contains(each.Event.Id) != true && !state.HasEnded(mailbox.User.Key, mailbox.Device, each.Event.Id))
                {
                    Take(mailbox, each);
                }
            }

            if (mailbox.User.FindLive(mailbox.Device) is { } session)
            {
                state.Missed.TellOther(session);
            }

            (mailbox.Held, mailbox.TakenBack) = (null, null);
            replay.GoOn(mailbox.User, mailbox);
            settlement.RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>From here on the journal tells what has ended in memory until now.</summary>
    internal void ForgetEnded()
    {
        using (state.Enter())
        {
            state.ForgetEnded();
        }
    }

    /// <summary>A delivery that rested ends where it rests; nothing when it is in memory, where its mailbox ends it.</summary>
    internal void EndResting(in RestingDelivery resting, DeliveryState end, string? reason)
    {
        using (state.Enter())
        {
            End(resting, end, reason);
        }
    }

    /// <summary>The same.</summary>
    internal void End(in RestingDelivery resting, DeliveryState end, string? reason)
    {
        var isHere = state.Users.TryGetValue(resting.User, out var user) && user.FindMailbox(resting.Device)?.Find(resting.Event) is not null;
        if (!isHere && !state.HasEnded(resting.User, resting.Device, resting.Event))
        {
            Settle(resting, end, reason);
        }
    }

    /// <summary>The event was begun for the device: what rests under its collapse key ends soon. While that is read, it ends where it is put.</summary>
    internal void Collapse(Mailbox mailbox, Event newer)
    {
        var key = mailbox.User.Key;
        if (newer.CollapseKey is { } collapseKey && !mailbox.IsReading && _hub.Journal.HasMail(key.App, key.User, mailbox.Device, new Collapse(newer.Class, collapseKey)))
        {
            _hub.CollapseMail(state.Shard, mailbox.User.Key, mailbox.Device, newer);
        }
    }

    /// <summary>At a start: it stays where it is, and is read when its device comes; what was taken back ends.</summary>
    internal void Restored(EventProgress progress, UserKey key, RestoredUser share, UnfinishedDelivery before)
    {
        if (share.IsWithdrawn)
        {
            End(new RestingDelivery(key, before.Device, before.IsSettled, progress.Id, progress.Class, progress.AcceptedAt), DeliveryState.Withdrawn, DeliveryState.Withdrawn.Label());
        }
        else
        {
            progress.Rest();
        }
    }

    /// <summary>The mailbox of a device that is here now; null = nothing waits for it.</summary>
    internal Mailbox? FindAndRead(UserState user, string device)
    {
        var mailbox = user.FindMailbox(device);
        if (mailbox is not { IsReading: true } && _hub.Journal.CountMail(user.Key.App, user.Key.User, device) > 0)
        {
            mailbox ??= user.GetOrAddMailbox(device);
            mailbox.IsReading = true;
            mailbox.IsBehind = true;
            _hub.ReadMail(state.Shard, mailbox);
        }

        return mailbox;
    }

    private void Take(Mailbox mailbox, in Mail mail)
    {
        var progress = new EventProgress(mail.Event, _hub.Metrics.Ledger.Of(mail.Event.App));
        progress.ComesFromRest(othersMay: !mail.IsAlone);
        var isExpired = state.IsExpired(mail.Event);
        if (isExpired || mailbox.IsReplaced(mail.Event))
        {
            // Its end is told now, and not when those of all devices are looked for.
            var over = new RestingDelivery(mailbox.User.Key, mailbox.Device, mail.IsSettled, mail.Event.Id, mail.Event.Class, mail.Event.AcceptedAt);
            Settle(over, isExpired ? DeliveryState.Expired : DeliveryState.Suppressed, !isExpired ? Settlement.Collapsed : mail.IsSettled ? DeliveryStateNames.Expired : null);
            _hub.Close(progress);
            return;
        }

        settlement.MakeRoom(mailbox, mail.Event);
        var item = new MailboxItem(progress)
        {
            IsRegistered = true,
            IsKept = true,
            TakesFrames = true,
            State = mail.IsSettled ? DeliveryState.Accepted : DeliveryState.Pending,
            IsRestNoted = true,
        };
        mailbox.AddInOrder(item);
        if (!mail.IsSettled)
        {
            progress.Books.Resting(item.Class, -1);
            progress.Books.InFlight(item.Class, +1);
        }

        settlement.Wait(mailbox, item);
        if (mailbox.Held?.Remove(item.Id) == true && mailbox.User.FindSession(mailbox.Device) is >= 0 and var index)
        {
            replay.MarkHeld(item, mailbox.User.Sessions[index]);
        }
    }

    // Without a reason, what has its terminal state is not told: its event is finished.
    private void Settle(in RestingDelivery resting, DeliveryState end, string? reason)
    {
        if (!resting.IsSettled)
        {
            var books = _hub.Metrics.Ledger.Of(resting.User.App);
            books.Settled(resting.Class, end);
            books.Resting(resting.Class, -1);
            _hub.Counted(end, reason, ChannelNames.None, resting.Class);
        }

        state.Ended(resting.User, resting.Device, resting.Event);
        if (!resting.IsSettled || reason is not null)
        {
            _hub.Notes.RestEnded(resting, end, reason, state.Now);
        }

        if (end != DeliveryState.Withdrawn && reason != Settlement.Collapsed)
        {
            state.Missed.Add(new SessionKey(resting.User.App, resting.User.User, resting.Device, ""), resting.AcceptedAt);
        }
    }

    // Out of memory; the journal has it.
    private void Leave(Mailbox mailbox, MailboxItem item)
    {
        item.Progress.Rest();
        if (!item.IsSettled)
        {
            item.Progress.Books.InFlight(item.Class, -1);
            item.Progress.Books.Resting(item.Class, +1);
        }

        mailbox.Remove(item);
        _hub.Close(item.Progress);
    }
}

/// <summary>What is about to leave memory.</summary>
/// <param name="Shard">Where its user lives.</param>
/// <param name="Mailbox">Its device's mailbox.</param>
/// <param name="Item">Its place there.</param>
internal readonly record struct RestingItem(Shard Shard, Mailbox Mailbox, MailboxItem Item);

/// <summary>What was read from where it rested.</summary>
/// <param name="Event">The event.</param>
/// <param name="IsSettled">True when the delivery to the device has its end.</param>
/// <param name="IsAlone">True when no other delivery of the event rests.</param>
internal readonly record struct Mail(Event Event, bool IsSettled, bool IsAlone);

/// <summary>A delivery that rests.</summary>
/// <param name="User">Whose.</param>
/// <param name="Device">Which device it waits for.</param>
/// <param name="IsSettled">True when it has its end.</param>
/// <param name="Event">The event's id.</param>
/// <param name="Class">The event's class.</param>
/// <param name="AcceptedAt">When the event was accepted.</param>
internal readonly record struct RestingDelivery(UserKey User, string Device, bool IsSettled, string Event, EventClass Class, DateTimeOffset AcceptedAt)
{
    internal static RestingDelivery Of(StoredEvent stored, EventClass @class, UnfinishedDelivery delivery) =>
        new(new UserKey(stored.App, delivery.User), delivery.Device, delivery.IsSettled, stored.Id, @class, stored.AcceptedAt);
}
