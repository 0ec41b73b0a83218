using Pnh.Core.Sessions;

namespace Pnh.Core.Shards;

/// <summary>What sessions of other nodes hold of the previous process's deliveries, in mind until all of these are read.</summary>
internal sealed class HeldFrames(ShardState state, SessionReplay replay)
{
    // Null = none, and nothing from the end of recovery on.
    private Dictionary<SessionKey, HashSet<string>>? _held;

    /// <summary>The session holds these. Under the gate.</summary>
    internal void Keep(SessionKey session, HashSet<string> ids) => (_held ??= [])[session] = ids;

    /// <summary>All that the previous process left has been read: nothing is kept in mind any more.</summary>
    internal void End()
    {
        using (state.Enter())
        {
            _held = null;
        }
    }

    /// <summary>A delivery of the previous process that the device's session has, with its client or without: as if its frame had been sent now. Under the gate. False = it has it not.</summary>
    internal bool TryTake(UserState user, Mailbox mailbox, MailboxItem item)
    {
        if (_held is null || user.FindSession(mailbox.Device) is not (>= 0 and var index))
        {
            return false;
        }

        var session = user.Sessions[index];
        if (!_held.TryGetValue(session.Key, out var ids) || !ids.Remove(item.Id))
        {
            return false;
        }

        replay.MarkHeld(item, session);
        return true;
    }
}
