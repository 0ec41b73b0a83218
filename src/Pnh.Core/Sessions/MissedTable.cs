namespace Pnh.Core.Sessions;

/// <summary>
/// What devices have missed and were not told yet. What ended while a session held it is noted under that session: the session's client may have it, and its ack may still come. An entry is 40 bytes and
/// names nobody. Of more than <paramref name="most"/> the oldest half is forgotten. Not thread-safe: its shard's gate guards it.
/// </summary>
internal sealed class MissedTable(int most)
{
    private Dictionary<ulong, MissedEvents> _younger = [];
    private Dictionary<ulong, MissedEvents> _older = [];

    /// <summary>The device missed an event.</summary>
    /// <param name="device">The device; with the session that held the event, or an empty session = none did.</param>
    /// <param name="acceptedAt">When the event was accepted.</param>
    internal void Add(SessionKey device, DateTimeOffset acceptedAt) => Add(HashOf(device), new MissedEvents(1, acceptedAt.ToUnixTimeMilliseconds()));

    /// <summary>The session's client had the event after all.</summary>
    internal void Retract(SessionKey session)
    {
        var hash = HashOf(session);
        if (Take(hash) is { Count: > 1 } missed)
        {
            Add(hash, missed with { Count = missed.Count - 1 });
        }
    }

    /// <summary>No ack of this session can come any more: what it held is the device's.</summary>
    internal void End(SessionKey session) => Add(HashOf(Of(session)), Take(HashOf(session)));

    /// <summary>The same, unless it is this one.</summary>
    internal void Replace(SessionKey older, SessionKey newer)
    {
        if (older != newer)
        {
            End(older);
        }
    }

    /// <summary>Tells the session's client, which has a connection again and has acknowledged what it had. What its node does not pass on waits for the next one.</summary>
    internal void Tell(LiveSession session)
    {
        End(session.Key);
        TellOther(session);
    }

    /// <summary>The same, but for what the session's client may have: its ack may still come.</summary>
    internal void TellOther(LiveSession session)
    {
        var hash = HashOf(Of(session.Key));
        if (Take(hash) is { Count: > 0 } missed && !session.Link.TryTellMissed(session.Key.Session, missed))
        {
            Add(hash, missed);
        }
    }

    private static SessionKey Of(SessionKey session) => session with { Session = "" };

    // Twice 32 bits of the same four texts: two devices of one number are as good as impossible, and would hear of each other's count.
    private static ulong HashOf(SessionKey key) =>
        ((ulong)(uint)HashCode.Combine(key.App, key.User, key.Device, key.Session) << 32) | (uint)HashCode.Combine(key.Session, key.Device, key.User, key.App);

    private void Add(ulong hash, MissedEvents missed)
    {
        if (missed.Count == 0)
        {
            return;
        }

        var sum = Take(hash).And(missed);
        if (_younger.Count >= most / 2)
        {
            (_older, _younger) = (_younger, []);
        }

        _younger[hash] = sum;
    }

    private MissedEvents Take(ulong hash) => _younger.Remove(hash, out var missed) || _older.Remove(hash, out missed) ? missed : default;
}
