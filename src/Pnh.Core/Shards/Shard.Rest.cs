using System.Runtime.InteropServices;
using Pnh.Core.Events;
using Pnh.Core.Progress;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Core.Shards;

/// <summary>Mail: what only waits for its device leaves memory once the journal has it, and is read when the device comes.</summary>
internal sealed partial class Shard
{
    /// <summary>Notes what may leave memory now, and adds it, up to so many. <see cref="Rest"/> follows when its note is on stable storage, else <see cref="RestLater"/>.</summary>
    internal void NoteResting(List<RestingItem> noted, int most)
    {
        using (Enter())
        {
            var taken = Math.Min(_state.Resting.Count, Math.Max(0, most - noted.Count));
            foreach (var (mailbox, item) in CollectionsMarshal.AsSpan(_state.Resting)[..taken])
            {
                if (!_settlement.MayRest(mailbox, item))
                {
                    continue;
                }

                if (!item.IsRestNoted)
                {
                    item.IsRestNoted = true;
                    _hub.Notes.Rested(mailbox, item, _state.Now);
                }

                noted.Add(new RestingItem(this, mailbox, item));
            }

            _state.Resting.RemoveRange(0, taken);
        }
    }

    /// <summary>Lets it leave memory, unless its device came meanwhile.</summary>
    internal void Rest(Mailbox mailbox, MailboxItem item)
    {
        using (Enter())
        {
            if (_settlement.MayRest(mailbox, item))
            {
                item.Progress.Rest();
                _settlement.Leave(mailbox, item);
                _settlement.RemoveIfEmpty(mailbox);
            }
        }
    }

    /// <summary>The journal could not write its note yet, and keeps it; or has lost it, so that it has to be told again.</summary>
    internal void RestLater(Mailbox mailbox, MailboxItem item, bool isNoteLost)
    {
        using (Enter())
        {
            item.IsRestNoted = !isNoteLost;
            _state.Resting.Add((mailbox, item));
        }
    }

    /// <summary>Begins to read what rests for the device, if anything does. Its mailbox; null = nothing waits for it.</summary>
    internal Mailbox? ReadMail(UserKey key, string device)
    {
        using (Enter())
        {
            var mailbox = FindMailboxAndRead(_state.GetOrAddUser(key), device);
            _state.RemoveIfIdle(key);
            return mailbox;
        }
    }

    /// <summary>What rested for the device, oldest first, with whether other deliveries of the event may rest as well. A session gets it before what came meanwhile.</summary>
    internal void TakeMail(Mailbox mailbox, IReadOnlyList<(Event Event, bool IsShared)> mail)
    {
        using (Enter())
        {
            mailbox.IsReading = false;
            foreach (var (accepted, isShared) in mail)
            {
                if (!_state.IsExpired(accepted) && mailbox.Find(accepted.Id) is null && mailbox.TakenBack?.Contains(accepted.Id) != true)
                {
                    TakeMail(mailbox, accepted, isShared);
                }
            }

            (mailbox.Held, mailbox.TakenBack) = (null, null);
            _replay.GoOn(mailbox.User, mailbox);
            _settlement.RemoveIfEmpty(mailbox);
        }
    }

    /// <summary>True when the event is in the device's mailbox here.</summary>
    internal bool Holds(UserKey key, string device, string id)
    {
        using (Enter())
        {
            return _state.Users.TryGetValue(key, out var user) && user.FindMailbox(device)?.Find(id) is not null;
        }
    }

    /// <summary>The event rested for the device until its end.</summary>
    internal void EndResting(UserKey key, string device, string id, DateTimeOffset acceptedAt)
    {
        using (Enter())
        {
            if (!_state.Users.TryGetValue(key, out var user) || user.FindMailbox(device)?.Find(id) is null)
            {
                _state.Missed.Add(new SessionKey(key.App, key.User, device, ""), acceptedAt);
            }
        }
    }

    private void TakeMail(Mailbox mailbox, Event accepted, bool isShared)
    {
        var progress = new EventProgress(accepted, _hub.Metrics.Ledger.Of(accepted.App));
        progress.ComesFromRest(isShared);
        _settlement.MakeRoom(mailbox, accepted);
        var item = new MailboxItem(progress) { IsRegistered = true, IsKept = true, TakesFrames = true, State = DeliveryState.Accepted, IsRestNoted = true };
        mailbox.AddInOrder(item);
        _settlement.Wait(mailbox, item);
        if (mailbox.Held?.Remove(item.Id) == true && mailbox.User.FindSession(mailbox.Device) is >= 0 and var index)
        {
            _replay.MarkHeld(item, mailbox.User.Sessions[index]);
        }
    }

    // The mailbox of a device that is here now; null = nothing waits for it.
    private Mailbox? FindMailboxAndRead(UserState user, string device)
    {
        var mailbox = user.FindMailbox(device);
        if (mailbox is not { IsReading: true } && _hub.Journal.CountMail(user.Key.App, user.Key.User, device) > 0)
        {
            mailbox ??= user.GetOrAddMailbox(device);
            mailbox.IsReading = true;
            mailbox.IsBehind = true;
            _hub.ReadMail(this, mailbox);
        }

        return mailbox;
    }
}

/// <summary>What is about to leave memory.</summary>
/// <param name="Shard">Where its user lives.</param>
/// <param name="Mailbox">Its device's mailbox.</param>
/// <param name="Item">Its place there.</param>
internal readonly record struct RestingItem(Shard Shard, Mailbox Mailbox, MailboxItem Item);
