namespace Pnh.Channels.Links.Protocol;

/// <summary>What an item of a link says: a call of <c>ISessionEvents</c>, a call of <c>ISessionLink</c>, or what both ends need to keep their order. The numbers are on the wire. A handle is the edge's number of a session on this link.</summary>
internal enum LinkItemKind : byte
{
    /// <summary>Edge to hub, answered: a device said hello. Handle, call number, key, since version 5 its pass, state, age.</summary>
    Opened = 1,

    /// <summary>Edge to hub: the session lost its connection. Handle.</summary>
    Detached = 2,

    /// <summary>Edge to hub, answered: it has one again. Handle, call number, state; since version 3 the age of the connection; since version 5 its pass.</summary>
    Resumed = 3,

    /// <summary>Edge to hub: the session is gone for good. Handle.</summary>
    Closed = 4,

    /// <summary>Edge to hub. Handle, state.</summary>
    StateChanged = 5,

    /// <summary>Edge to hub. Handle, event id.</summary>
    Acked = 6,

    /// <summary>Edge to hub: an event was not taken. Handle, event id, number of the refusal; 0 = nothing younger has to wait for <see cref="GoOn"/>.</summary>
    Refused = 7,

    /// <summary>Edge to hub. Handle.</summary>
    HasRoom = 8,

    /// <summary>Edge to hub. Handle, event id, reason, answer or none.</summary>
    Answered = 9,

    /// <summary>Edge to hub. Handle, topics.</summary>
    Joined = 10,

    /// <summary>Edge to hub. Handle, topics.</summary>
    Left = 11,

    /// <summary>Edge to hub, answered: the client publishes. Handle, call number, up to version 4 its identity, frame.</summary>
    Publish = 12,

    /// <summary>Hub to edge and tee: an event for one or many sessions. Event, handles up to the end. To edges up to version 4.</summary>
    Send = 13,

    /// <summary>Hub to edge: an event that waited for the session. Handle, event. Up to version 4.</summary>
    Replay = 14,

    /// <summary>Hub to edge. Handle, withdrawal.</summary>
    Withdraw = 15,

    /// <summary>Hub to edge. Handle, code, reason.</summary>
    Close = 16,

    /// <summary>Hub to edge: what became of a call. Call number, whether the hub did not fail, and the members of the answer.</summary>
    Answer = 17,

    /// <summary>Hub to edge: it has heard of a refusal, and what it sends from here on it sends knowing of it. Handle, number of the refusal.</summary>
    GoOn = 18,

    /// <summary>Both ways, the first item: who speaks. See <see cref="LinkHello"/>.</summary>
    Hello = 19,

    /// <summary>Hub to edge, in place of its hello: why the edge may not be linked. Reason, text.</summary>
    NotLinked = 20,

    /// <summary>Both ways, each second: the node is alive.</summary>
    Beat = 21,

    /// <summary>
    /// Edge to hub, on a new connection: a session that the hub of now may know or not. Handle, key, since version 5 its pass, state, whether it waits for its client, age, topics, up to version 4 topics that it left
    /// meanwhile, events that it holds: given to it and not noted as acknowledged.
    /// </summary>
    Reopen = 22,

    /// <summary>Edge to hub: all sessions of this link have been said.</summary>
    Synced = 23,

    /// <summary>Hub to edge: the hub knows what its previous process left; from here on it takes everything.</summary>
    Recovered = 24,

    /// <summary>Edge to hub: a report that was not noted, said again. Key, since version 5 the session's pass, event id, reason or none (an ack), answer or none.</summary>
    Reported = 25,

    /// <summary>Hub to edge: so many reports of this connection (<see cref="Acked"/>, <see cref="Answered"/>, <see cref="Reported"/>) are on stable storage. Number.</summary>
    Noted = 26,

    /// <summary>Edge to hub, answered by <see cref="Claimed"/>: a client asks for a session that another node may hold. Call number, key, since version 5 its pass, seq; since version 3 the age of its connection.</summary>
    Claim = 27,

    /// <summary>Hub to edge. Call number, whether the session was given away, its topics. A <see cref="Reopen"/> has to follow.</summary>
    Claimed = 28,

    /// <summary>Hub to edge: the session's client is at another node. Handle, the seq that the client has.</summary>
    Surrender = 29,

    /// <summary>Edge to hub: whether it is given away; then its handle means nothing any more. Handle, flag, topics.</summary>
    Surrendered = 30,

    /// <summary>Edge to hub, each second over its first link, since version 2: what it holds and what it takes. See <see cref="NodeStatus"/>.</summary>
    Status = 31,

    /// <summary>Hub to edge, since version 4: what ended before the session's client came. Handle, number of events, age of the oldest.</summary>
    Missed = 32,

    /// <summary>Hub to edge, since version 5 in place of <see cref="Send"/>: an event's frame for one or many sessions. Frame, handles up to the end.</summary>
    Frame = 33,

    /// <summary>Hub to edge, since version 5 in place of <see cref="Replay"/>. Handle, frame.</summary>
    ReplayFrame = 34,

    /// <summary>Edge to hub, since version 5, before the session's <see cref="Reopen"/>: what it holds besides. Handle, ids.</summary>
    Holds = 35,

    /// <summary>Edge to hub, since version 5, answered by <see cref="Admitted"/>: a client wants this session. Call number, key, the client's token or none; if none, its topics and its end.</summary>
    Admit = 36,

    /// <summary>Hub to edge. Call number, why the hub does not take the token or none, the session's pass.</summary>
    Admitted = 37,
}
