using Pnh.Core.Events;

namespace Pnh.Core.Sessions;

/// <summary>
/// The only way from a shard to a device's session, in this process or over a link to an edge. Nothing here waits: a call returns at once,
/// and what became of it comes back through <see cref="ISessionEvents"/>, never from inside the call: the shard holds
/// its gate. A true means queued or on its way: what cannot be queued after all comes back as <see cref="ISessionEvents.Refused"/> or
/// <see cref="ISessionEvents.Closed"/>. Everything can be written as bytes: no call hands over a callback. Thread-safe.
/// </summary>
public interface ISessionLink
{
    /// <summary>Queues the event's frame on the session. False when the session is known to be gone or too slow; then nothing was queued.</summary>
    bool TrySend(string session, Event accepted);

    /// <summary>
    /// Queues the frame of an event that waited for the session, in up to half of the session's room, so that newer events keep theirs. False
    /// when there is no room now, which the next ack may make, or when the session is gone; then nothing was queued, and the session goes on.
    /// </summary>
    bool TryReplay(string session, Event accepted);

    /// <summary>Takes the event back: out of what waits in the session, else by a withdraw frame. False when the session is known to be gone or too slow.</summary>
    bool TryWithdraw(string session, Withdrawal withdrawal);

    /// <summary>Tells the client, after its welcome, what ended before it came. False when it is not told: it does not ask for it, its node cannot pass it on, or the session is gone.</summary>
    bool TryTellMissed(string session, MissedEvents missed) => false;

    /// <summary>Closes the session's connection with a code of <see cref="SessionClose"/>; nothing happens when it is gone.</summary>
    void Close(string session, SessionClose reason);

    /// <summary>
    /// A send is about to follow, after some to others: asks for the memory that it will touch. In <see cref="PrefetchSteps"/> steps from 0 on, since what one
    /// fetches says where the next has to look; in between, others are asked the same. Changes nothing.
    /// </summary>
    void Prefetch(int step)
    {
    }

    /// <summary>
    /// The session's client is at another node: confirms what it has, up to <paramref name="seq"/>, closes the connection that is left, and forgets the session without a report of its end. Its topics; null
    /// when it cannot be given away: it has ended, or never gave that seq. Not from inside a call of <see cref="ISessionEvents"/> of the same session.
    /// </summary>
    ValueTask<IReadOnlyList<string>?> SurrenderAsync(string session, long seq) => ValueTask.FromResult<IReadOnlyList<string>?>(null);

    /// <summary>What the session is now, for its node to say it again. Empty where only the other node knows.</summary>
    SessionContent Describe() => SessionContent.Empty;

    /// <summary>How many steps there are.</summary>
    const int PrefetchSteps = 2;

    /// <summary>
    /// What carries this session and others to their node, and its <paramref name="number"/> there: takes an event for many of them in one call. Null = the session is on this node.
    /// The answer is the same for as long as the link is.
    /// </summary>
    ISessionCarrier? FindCarrier(out long number)
    {
        number = 0;
        return null;
    }
}

/// <summary>The way to another node, as the sessions there share it. Like <see cref="ISessionLink"/>, nothing here waits. Thread-safe.</summary>
public interface ISessionCarrier
{
    /// <summary>Most sessions of a call.</summary>
    const int Most = 128;

    /// <summary>
    /// Queues a transient event's frame on each of the sessions of these numbers, at most <see cref="Most"/>. False when the carrier is too slow; then nothing was queued on any of them.
    /// What is queued may stay until <see cref="Flush"/>, which has to follow.
    /// </summary>
    bool TrySend(ReadOnlySpan<long> sessions, Event accepted);

    /// <summary>What was queued leaves now: some of it in the caller's thread, without waiting, when <paramref name="byCaller"/>. Not under a lock then.</summary>
    void Flush(bool byCaller);
}

/// <summary>The other way: what sessions tell the hub. Implemented by the hub; thread-safe; never waits.</summary>
public interface ISessionEvents
{
    /// <summary>
    /// A client is about to open this session, resume it or claim it: a hub in another process checks the client's token too, and its answer is shown with the session. Throws when it cannot be asked.
    /// </summary>
    ValueTask<SessionPass> AdmitAsync(SessionKey session, ClientCredential client, CancellationToken cancellationToken) => ValueTask.FromResult(default(SessionPass));

    /// <summary>
    /// A device said hello. The hub closes the device's older session with <see cref="SessionClose.Replaced"/> (this one, when the connection of the present one came later), sends what waits for the
    /// device, and plans with the new session from now on. False when the user has as many sessions as one may: then nothing happened, and the connection is to be
    /// closed with <see cref="SessionClose.Overloaded"/>.
    /// </summary>
    ValueTask<bool> OpenedAsync(SessionOpened opened, CancellationToken cancellationToken);

    /// <summary>
    /// The session lost its connection and waits for <c>resume</c>: the device counts as offline, what is unacked stays with the session. Followed
    /// by <see cref="ResumedAsync"/> or <see cref="Closed"/>.
    /// </summary>
    void Detached(SessionKey session);

    /// <summary>
    /// A detached session has a connection again. False when the hub does not know it any more (a newer one took its place): then nothing
    /// happened, and the session must not go on. What was unacked was not sent again by the hub; what came meanwhile is sent now.
    /// <paramref name="connectedAt"/> is when that connection came; null = its node does not say.
    /// </summary>
    ValueTask<bool> ResumedAsync(SessionKey session, SessionState state, DateTimeOffset? connectedAt, CancellationToken cancellationToken);

    /// <summary>
    /// A session of another node whose way to the hub broke, or that the hub's previous process knew: this is what it is now, and what it holds. What the hub gave it besides is lost, and given to it again.
    /// False when a newer session of its device is there: then nothing happened, and it is to be closed with <see cref="SessionClose.Replaced"/>.
    /// </summary>
    ValueTask<bool> ReopenedAsync(SessionReopened reopened, CancellationToken cancellationToken) => ValueTask.FromResult(false);

    /// <summary>
    /// A client asks at this node for a session that another node holds. That node gives it away: its topics, and <see cref="ReopenedAsync"/> has to follow. Null when nobody has it to give, or when its
    /// connection there came after <paramref name="connectedAt"/>, when the client's did (null = its node does not say): then nothing happened, and the client gets a new session, or is closed as stale.
    /// </summary>
    ValueTask<IReadOnlyList<string>?> ClaimAsync(SessionKey session, long seq, DateTimeOffset? connectedAt, ReadOnlyMemory<byte> pass = default) => ValueTask.FromResult<IReadOnlyList<string>?>(null);

    /// <summary>Completes when what sessions said before is on stable storage. Throws as a journal's flush does.</summary>
    ValueTask FlushAsync() => ValueTask.CompletedTask;

    /// <summary>The session is gone for good (closed, slow, or not resumed in time). The device counts as offline unless a newer session took its place.</summary>
    void Closed(SessionKey session);

    /// <summary>The client came to the front or went to the background.</summary>
    void StateChanged(SessionKey session, SessionState state);

    /// <summary>The client acknowledged the event with this id.</summary>
    void Acked(SessionKey session, string eventId);

    /// <summary>
    /// The session refused a replay for want of room, there is room now, and no ack is to come that would say so: what was in the way needed
    /// none, ended, or was no event's.
    /// </summary>
    void HasRoom(SessionKey session);

    /// <summary>A frame that the link took was not queued after all; the session goes on. What it was comes back to the hub like a false from the link.</summary>
    void Refused(SessionKey session, string eventId);

    /// <summary>
    /// The user answered the event, or saw it, on this device: it ends everywhere else of the user. <paramref name="reason"/> is <c>answered</c>
    /// or <c>seen</c>; <paramref name="answer"/> the client's <c>as</c>, null = none.
    /// </summary>
    void Answered(SessionKey session, string eventId, string reason, string? answer);

    /// <summary>The same, and completes when it is kept, here or by the node that tells the hub; false = it could not be kept, and has to be said again. Never throws.</summary>
    ValueTask<bool> AnsweredAsync(SessionKey session, string eventId, string reason, string? answer)
    {
        Answered(session, eventId, reason, answer);
        return ValueTask.FromResult(true);
    }

    /// <summary>The session joined topics that its token allows. Joining twice is joining once.</summary>
    void Joined(SessionKey session, IReadOnlyList<string> topics);

    /// <summary>The session left topics; those it was not in do not matter.</summary>
    void Left(SessionKey session, IReadOnlyList<string> topics);

    /// <summary>
    /// The client publishes: <paramref name="message"/> is its <c>send</c> frame, a JSON object. Null = taken; else the code and message of the
    /// error frame. Never throws for what a client wrote.
    /// </summary>
    ValueTask<SendRefusal?> SendAsync(SessionKey session, ClientIdentity identity, ReadOnlyMemory<byte> message, CancellationToken cancellationToken);
}

/// <summary>Why a client's <c>send</c> was not taken.</summary>
/// <param name="Code">Kebab-case, stable.</param>
/// <param name="Message">For a person; repeats nothing that the client wrote.</param>
public sealed record SendRefusal(string Code, string Message);

/// <summary>Where the app is on the device's screen, as the client says.</summary>
public enum SessionState
{
    /// <summary>In front: sockets first.</summary>
    Active,

    /// <summary>Open but not seen: push as well.</summary>
    Background,
}

/// <summary>Names a session together with its device, so that a late report never touches a newer session.</summary>
public readonly record struct SessionKey(string App, string User, string Device, string Session);

/// <summary>A session as the hub comes to know it.</summary>
/// <param name="Key">Session and device.</param>
/// <param name="State">As said in the hello.</param>
/// <param name="Link">The way back to it.</param>
/// <param name="ConnectedAt">When.</param>
public sealed record SessionOpened(SessionKey Key, SessionState State, ISessionLink Link, DateTimeOffset ConnectedAt)
{
    /// <summary>As <see cref="SessionPass.Proof"/>.</summary>
    public ReadOnlyMemory<byte> Pass { get; init; }
}

/// <summary>A session as its node knows it.</summary>
/// <param name="State">As its client said last.</param>
/// <param name="Topics">Those that it has joined.</param>
/// <param name="Holds">Ids of the events that it was given and has not acknowledged.</param>
public sealed record SessionContent(SessionState State, IReadOnlyList<string> Topics, IReadOnlyList<string> Holds)
{
    /// <summary>Nothing is known.</summary>
    public static SessionContent Empty { get; } = new(SessionState.Active, [], []);
}

/// <summary>A session as its node says it again.</summary>
/// <param name="Opened">As when it opened, with its state and way of now.</param>
/// <param name="IsDetached">True while it waits for its client.</param>
/// <param name="Topics">All that it has joined: it has left every other.</param>
/// <param name="Holds">Ids of the events that it was given and has not acknowledged, or whose ack the hub may not have.</param>
public sealed record SessionReopened(
    SessionOpened Opened, bool IsDetached, IReadOnlyList<string> Topics, IReadOnlyCollection<string> Holds);
