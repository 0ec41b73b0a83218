using System.Text.Json;

namespace Pnh.Client.Sockets;

/// <summary>An event as a device gets it.</summary>
/// <param name="Id">The same event by push or after a reconnect has the same id.</param>
/// <param name="Class"><c>call</c>, <c>message</c>, <c>bulk</c> or <c>transient</c>.</param>
/// <param name="Data">The publisher's JSON. Null = none.</param>
/// <param name="Notification">Title, body and so on, as the hub sends them. Null = none.</param>
/// <param name="Seq">Number in the session. Null = transient.</param>
/// <param name="At">When the hub took it. Null = transient.</param>
/// <param name="Ttl">How long it is of use from then on. Null = transient.</param>
/// <param name="Topic">The topic that it was for. Null = it was for none.</param>
/// <param name="CollapseKey">A newer one with the same key replaces it. Null = none.</param>
/// <param name="TraceParent">W3C trace context. Null = none.</param>
public sealed record PnhMessage(
    string Id, string Class, JsonElement? Data, JsonElement? Notification, long? Seq, DateTimeOffset? At, TimeSpan? Ttl, string? Topic, string? CollapseKey, string? TraceParent);

/// <summary>An event that shall leave the screen.</summary>
/// <param name="Id">The event's.</param>
/// <param name="Reason"><c>withdrawn</c>, <c>answered</c>, <c>seen</c>, or the publisher's word.</param>
public sealed record PnhWithdrawal(string Id, string Reason);

/// <summary>Events that ended before this device took them: they came to an end of their TTL, or were too many to be kept.</summary>
/// <param name="Count">How many.</param>
/// <param name="Since">When the oldest of them was accepted: what the app shows may lack something from there on.</param>
public sealed record PnhMissed(int Count, DateTimeOffset Since);

/// <summary>What happened to the connection.</summary>
public enum PnhStatus
{
    /// <summary>It is being made.</summary>
    Connecting,

    /// <summary>The session is open.</summary>
    Open,

    /// <summary>It was lost, and will be made again.</summary>
    Waiting,

    /// <summary>The hub said not to come back, or the caller ended it.</summary>
    Closed,
}

/// <summary>A change of the connection.</summary>
/// <param name="Status">What it is now.</param>
/// <param name="Session">Of <see cref="PnhStatus.Open"/>: its id. Null otherwise.</param>
/// <param name="Resumed">Of <see cref="PnhStatus.Open"/>: false = a new session; what is still alive comes by itself.</param>
/// <param name="Wait">Of <see cref="PnhStatus.Waiting"/>: until the next attempt. Null otherwise.</param>
/// <param name="Why">Of <see cref="PnhStatus.Waiting"/>. Null otherwise.</param>
public sealed record PnhConnection(PnhStatus Status, string? Session = null, bool Resumed = false, TimeSpan? Wait = null, string? Why = null)
{
    /// <summary>Of <see cref="PnhStatus.Waiting"/>: a stable word for <see cref="Why"/>, as the table of PROTOCOL.md has it, such as <c>no-token</c>. Null otherwise.</summary>
    public string? Reason { get; init; }

    /// <summary>Of <see cref="PnhStatus.Waiting"/>: the close code; 0 = it broke; null = it was never dialed.</summary>
    public int? Code { get; init; }

    /// <summary>Of <see cref="PnhStatus.Waiting"/>: the page of the hub's documents that speaks of it. Null = the hub did not say why.</summary>
    public Uri? Help { get; init; }
}

/// <summary>Why it does not come back.</summary>
/// <param name="Code">Close code, 4500 to 4999; 0 = this end said so.</param>
/// <param name="Reason">A stable word: the code of the hub's error, the reason of its close, or <c>other-user</c>: the new token is of another one.</param>
public sealed record PnhEnd(int Code, string Reason)
{
    /// <summary>The same for a person.</summary>
    public string Why { get; init; } = "";

    /// <summary>The page of the hub's documents that speaks of it. Null = the hub did not say why.</summary>
    public Uri? Help { get; init; }
}
