using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>Sessions that another node holds, after the way to them broke or this process was started.</summary>
internal sealed partial class SessionBook
{
    /// <summary>
    /// Takes the session as its node says that it is. What it holds counts as given to it; what it was given besides is lost, and given again. False when a newer session of the device is there.
    /// </summary>
    /// <param name="reopened">The session.</param>
    /// <param name="isRecovered">False while the deliveries of the previous process are still read: what the session holds of them is kept in mind until then.</param>
    /// <param name="replaced">An older session of the device, as subscriber; null = none, or it was in no topic.</param>
    internal bool TryReopen(SessionReopened reopened, bool isRecovered, out Subscriber? replaced)
    {
        replaced = null;
        var opened = reopened.Opened;
        var session = new LiveSession(opened.Key, opened.State, opened.Link, opened.ConnectedAt) { IsDetached = reopened.IsDetached };
        LiveSession? older;
        using (state.Enter())
        {
            var user = state.GetOrAddUser(ShardState.KeyOf(opened.Key));
            var index = user.FindSession(opened.Key.Device);
            if (index >= 0 && user.Sessions[index].CameAfter(session, _hub.Time.GetUtcNow()))
            {
                return false;
            }

            older = Place(user, index, ref session);
            if (reopened is { IsDetached: false, Holds.Count: 0 })
            {
                // Another one still acknowledges what it holds.
                state.Missed.Tell(session);
            }

            TakeOver(user, session, reopened.Holds, isRecovered);
        }

        replaced = CloseReplaced(older, session);
        return true;
    }

    private void TakeOver(UserState user, LiveSession session, IReadOnlyCollection<string> holds, bool isRecovered)
    {
        HashSet<string>? ids = holds.Count == 0 ? null : new(holds, StringComparer.Ordinal);
        if (mail.FindAndRead(user, session.Key.Device) is { } mailbox)
        {
            mailbox.EndLinger();
            for (var item = mailbox.First; item is not null; item = item.Next)
            {
                if (ids?.Remove(item.Id) == true)
                {
                    replay.MarkHeld(item, session);
                }
                else if (item.IsOn(session))
                {
                    item.Session = null;
                }
            }

            mailbox.Held = mailbox.IsReading ? ids : null;
            if (session.IsDetached)
            {
                mailbox.IsBehind = true;
            }
            else
            {
                replay.Begin(user, mailbox, session);
            }
        }

        if (!isRecovered && ids is not null)
        {
            held.Keep(session.Key, ids);
        }
    }
}
