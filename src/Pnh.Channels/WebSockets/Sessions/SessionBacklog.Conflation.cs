using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Sessions;

/// <summary>
/// What a crowded session drops: transient frames, and what the hub itself has replaced meanwhile, by its own rule (<c>Shard.MakeRoom</c>): a newer
/// event of the same class and collapse key that came later. Anything else is sent here or nowhere, since the hub believes it is on its way.
/// </summary>
internal partial struct SessionBacklog
{
    // Over half: once for everything that waits, then only for each newcomer's own key, so that a crowded session stays cheap.
    private void Relieve(Event? newcomer)
    {
        if (!IsOverHalf)
        {
            _crowded = false;
            return;
        }

        if (!_crowded)
        {
            _crowded = true;
            Conflate();
        }

        if (newcomer is { CollapseKey: not null, IsDurable: true } && _calls.Count + _others.Count > 0)
        {
            _calls.RemoveAll(newcomer, IsReplaced);
            _others.RemoveAll(newcomer, IsReplaced);
        }
    }

    private static bool IsReplaced(Frame frame, Event newer) =>
        frame.Event is { } older && older.Class == newer.Class && older.AcceptedAt <= newer.AcceptedAt
        && string.Equals(older.CollapseKey, newer.CollapseKey, StringComparison.Ordinal);

    /// <summary>Drops transient frames, and what the last of its class and collapse key has replaced. Rare: at the crossing of the half only.</summary>
    private void Conflate()
    {
        var last = new Dictionary<(EventClass Class, string Key), Event>();
        Note(ref _calls, last);
        Note(ref _others, last);
        _calls.RemoveAll(last, IsSuperfluous);
        _others.RemoveAll(last, IsSuperfluous);
    }

    private static void Note(ref FrameQueue queue, Dictionary<(EventClass Class, string Key), Event> last)
    {
        for (var i = 0; i < queue.Count; i++)
        {
            if (queue[i].Event is { CollapseKey: { } key } accepted)
            {
                last[(accepted.Class, key)] = accepted;
            }
        }
    }

    private static bool IsSuperfluous(Frame frame, Dictionary<(EventClass Class, string Key), Event> last) =>
        !frame.HasSeq
        || (frame.Event is { CollapseKey: { } key } accepted && last[(accepted.Class, key)] is var newest
            && !ReferenceEquals(newest, accepted) && IsReplaced(frame, newest));
}
