using Pnh.Api.Operations;
using Pnh.Channels.Links;

namespace Pnh.Api.Hosting;

/// <summary>An edge is ready from its first link on, and until it had none for a while: its sockets are worth keeping meanwhile. Thread-safe.</summary>
internal sealed class EdgeReadiness
{
    private readonly EdgeSessions _sessions;
    private readonly TimeSpan _wait;
    private readonly TimeProvider _time;

    public EdgeReadiness(EdgeSessions sessions, TimeSpan wait, TimeProvider time)
    {
        _sessions = sessions;
        _wait = wait;
        _time = time;
        Readiness = new Readiness { Refusal = FindFault };
    }

    /// <summary>For the endpoints.</summary>
    public Readiness Readiness { get; }

    private string? FindFault() => _sessions.UnlinkedSince switch
    {
        null => "no hub has been reached yet",
        0 => null,
        { } since => _time.GetElapsedTime(since) < _wait ? null : "the hub has been away for longer than Pnh:Edge:HubWait",
    };
}
