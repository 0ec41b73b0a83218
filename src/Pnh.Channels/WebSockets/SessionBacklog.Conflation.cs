using Pnh.Channels.WebSockets.Protocol;

namespace Pnh.Channels.WebSockets;

/// <summary>What a crowded session drops: transient frames, and of each collapse key all but the newest.</summary>
internal partial struct SessionBacklog
{
    // Over half: once for everything that waits, then only for each newcomer's own key, so that a crowded session stays cheap.
    private void Relieve(string? newcomer)
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

        if (newcomer is not null && _calls.Count + _others.Count > 0)
        {
            _calls.RemoveAll(newcomer, IsOlder);
            _others.RemoveAll(newcomer, IsOlder);
        }
    }

    private static bool IsOlder(Frame frame, string key) =>
        string.Equals(frame.Event?.CollapseKey, key, StringComparison.Ordinal);

    /// <summary>Drops transient frames, and of each collapse key all but the newest. Rare: at the crossing of the half only.</summary>
    private void Conflate()
    {
        var newest = new Dictionary<string, Frame>(StringComparer.Ordinal);
        Note(ref _calls, newest);
        Note(ref _others, newest);
        _calls.RemoveAll(newest, IsSuperfluous);
        _others.RemoveAll(newest, IsSuperfluous);
    }

    private static void Note(ref FrameQueue queue, Dictionary<string, Frame> newest)
    {
        for (var i = 0; i < queue.Count; i++)
        {
            if (queue[i] is { Event: { CollapseKey: { } key } accepted } frame
                && (!newest.TryGetValue(key, out var known) || known.Event!.AcceptedAt <= accepted.AcceptedAt))
            {
                newest[key] = frame;
            }
        }
    }

    private static bool IsSuperfluous(Frame frame, Dictionary<string, Frame> newest) =>
        !frame.HasSeq
        || (frame is { Event.CollapseKey: { } key } && !ReferenceEquals(newest[key], frame));
}
