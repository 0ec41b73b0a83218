namespace Pnh.Channels.Links;

/// <summary>What an item of a link says: a call of <c>ISessionEvents</c>, a call of <c>ISessionLink</c>, or what both ends need to keep their order. The numbers are on the wire.</summary>
internal enum LinkItemKind : byte
{
    /// <summary>Edge to hub, answered: a device said hello. Call number, key, state, time.</summary>
    Opened = 1,

    /// <summary>Edge to hub: the session lost its connection. Key.</summary>
    Detached = 2,

    /// <summary>Edge to hub, answered: it has one again. Call number, key, state.</summary>
    Resumed = 3,

    /// <summary>Edge to hub: the session is gone for good. Key.</summary>
    Closed = 4,

    /// <summary>Edge to hub. Key, state.</summary>
    StateChanged = 5,

    /// <summary>Edge to hub. Key, event id.</summary>
    Acked = 6,

    /// <summary>Edge to hub: an event was not taken. Key, event id, number of the refusal; 0 = nothing younger has to wait for <see cref="GoOn"/>.</summary>
    Refused = 7,

    /// <summary>Edge to hub. Key.</summary>
    HasRoom = 8,

    /// <summary>Edge to hub. Key, event id, reason, answer or none.</summary>
    Answered = 9,

    /// <summary>Edge to hub. Key, topics.</summary>
    Joined = 10,

    /// <summary>Edge to hub. Key, topics.</summary>
    Left = 11,

    /// <summary>Edge to hub, answered: the client publishes. Call number, key, identity, frame.</summary>
    Publish = 12,

    /// <summary>Hub to edge. Session, event.</summary>
    Send = 13,

    /// <summary>Hub to edge: an event that waited for the session. Session, event.</summary>
    Replay = 14,

    /// <summary>Hub to edge. Session, withdrawal.</summary>
    Withdraw = 15,

    /// <summary>Hub to edge. Session, code, reason.</summary>
    Close = 16,

    /// <summary>Hub to edge: what became of a call. Call number, whether the hub did not fail, and the members of the answer.</summary>
    Answer = 17,

    /// <summary>Hub to edge: it has heard of a refusal, and what it sends from here on it sends knowing of it. Session, number of the refusal.</summary>
    GoOn = 18,
}
