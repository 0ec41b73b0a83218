using Pnh.Api.Operations;
using Pnh.Channels.Links;

namespace Pnh.Api.Hosting;

/// <summary>An edge is ready from its first link on, until its hub refuses it or it has had no link for 10 s: new clients go to another. The sockets that it has it keeps for as long as Pnh:Edge:HubWait. Thread-safe.</summary>
internal sealed class EdgeReadiness
{
    private static readonly TimeSpan Most = TimeSpan.FromSeconds(10);
    private readonly EdgeSessions _sessions;
    private readonly TimeSpan _wait;
    private readonly TimeProvider _time;

    public EdgeReadiness(EdgeSessions sessions, TimeSpan wait, TimeProvider time)
    {
        _sessions = sessions;
        _wait = wait < Most ? wait : Most;
        _time = time;
        Readiness = new Readiness { Refusal = FindFault };
    }

    /// <summary>For the endpoints.</summary>
    public Readiness Readiness { get; }

    private string? FindFault() => _sessions.UnlinkedSince switch
    {
        0 => null,
        _ when _sessions.Refusal is { } refusal => $"the hub does not link this edge: {refusal.TrimEnd('.')}",
        null => "no hub has been reached yet",
        { } since => _time.GetElapsedTime(since) < _wait ? null : FormattableString.Invariant($"the edge has had no link to its hub for {_wait.TotalSeconds:0.#} s"),
    };
}
