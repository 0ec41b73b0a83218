using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>What a client may say.</summary>
internal enum ClientFrameType
{
    /// <summary>Opens the session; first and once.</summary>
    Hello,

    /// <summary>Everything up to <c>seq</c> has arrived.</summary>
    Ack,

    /// <summary>To the front or to the background.</summary>
    State,

    /// <summary>The user answered the event on this device.</summary>
    Answer,

    /// <summary>The user saw the event on this device.</summary>
    Seen,

    /// <summary>The session wants a topic's events.</summary>
    Join,

    /// <summary>And no longer.</summary>
    Leave,

    /// <summary>Publishes an event.</summary>
    Send,

    /// <summary>The event is on the screen, though what came before it may not be handled yet.</summary>
    Taken,

    /// <summary>Beats are wanted every so many seconds from now on.</summary>
    Beat,
}

/// <summary>What both ends of a connection may know beyond the first version; on the wire its words, in lower case.</summary>
[Flags]
internal enum Knowledge
{
    /// <summary>The first version.</summary>
    None = 0,

    /// <summary>Each join is answered topic by topic.</summary>
    Joined = 1,

    /// <summary>What the user did with an event is confirmed once it is kept.</summary>
    Confirmed = 2,

    /// <summary>An event may be taken by its id.</summary>
    Taken = 4,

    /// <summary>The time between beats may be changed.</summary>
    Beat = 8,

    /// <summary>The client is told how much it has missed.</summary>
    Missed = 16,
}

/// <summary>A client frame with its members checked. Members of other types are null. An ack or state allocates nothing.</summary>
internal struct ClientFrame
{
    /// <summary>Which one.</summary>
    public ClientFrameType Type;

    /// <summary>hello: client token; null = the Authorization header's.</summary>
    public string? Token;

    /// <summary>hello: device id, checked by <see cref="Core.Events.Ids.IsName"/>.</summary>
    public string? Device;

    /// <summary>hello, state: where the app is; a hello without it means active.</summary>
    public SessionState? State;

    /// <summary>hello: the session to resume; null = a new one.</summary>
    public string? ResumeSession;

    /// <summary>hello: highest seq received in that session.</summary>
    public long? ResumeSeq;

    /// <summary>hello, beat: every how many seconds a beat is wanted; 0 = none is.</summary>
    public int Beat;

    /// <summary>hello: what the client understands beyond the first version.</summary>
    public Knowledge Knows;

    /// <summary>ack: highest seq received.</summary>
    public long? Seq;

    /// <summary>answer, seen: event id, checked.</summary>
    public string? Id;

    /// <summary>answer: what the user chose, in the publisher's words; at most 64 characters.</summary>
    public string? As;

    /// <summary>join, leave: topic names, checked.</summary>
    public List<string>? Topics;

    /// <summary>send: true when <c>to</c> is an object.</summary>
    public bool HasTarget;

    /// <summary>send: true when there is <c>data</c>.</summary>
    public bool HasData;
}

/// <summary>Why a client message is not a frame of <c>pnh.v1</c>.</summary>
/// <param name="Code">Stable kebab-case code of the error frame.</param>
/// <param name="Message">For a person; never repeats what the client sent.</param>
internal sealed record FrameProblem(string Code, string Message)
{
    public static FrameProblem BadJson { get; } = new("bad-json", "The message is not a JSON object.");

    public static FrameProblem UnknownType { get; } = new("unknown-type", "The member type is missing or not one of pnh.v1.");

    public static FrameProblem Bad(string member, string rule) => new("bad-member", $"The member {member} must be {rule}.");

    public static FrameProblem Missing(string member) => new("missing-member", $"The member {member} is missing.");
}
