using Pnh.Channels.Links.Protocol;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links;

/// <summary>What a client said of an event, to be kept until the hub has it on stable storage.</summary>
/// <param name="EventId">Which event.</param>
/// <param name="Reason">Null = it was acknowledged; else as <see cref="ISessionEvents.Answered"/> has it.</param>
/// <param name="Answer">The same.</param>
internal readonly record struct HeldReport(string EventId, string? Reason, string? Answer);

/// <summary>
/// The reports of a link in the order in which they were said. They leave when the hub has noted them; on another connection they are said again, also of sessions that have ended since. Bounded: beyond
/// <see cref="MostReports"/> the oldest are forgotten, and their events may be sent again. Thread-safe.
/// </summary>
internal sealed class HeldReports
{
    private const int MostReports = 1_000_000;
    private readonly Lock _gate = new();
    private readonly Queue<(SessionKey Session, ReadOnlyMemory<byte> Pass, HeldReport Report)> _held = new();
    private Dictionary<SessionKey, List<string>>? _bySession;
    private LinkQueue? _output;
    private long _noted;

    /// <summary>How many are held.</summary>
    public int Count
    {
        get
        {
            lock (_gate)
            {
                return _held.Count;
            }
        }
    }

    /// <summary>Keeps a report, and says it if the hub listens. The caller has the session's lock.</summary>
    public void Add(EdgeSession session, in HeldReport report)
    {
        lock (_gate)
        {
            if (_held.Count == MostReports)
            {
                _held.Dequeue();
                _noted++;
            }

            _held.Enqueue((session.Key, session.Pass, report));
            Sort(session.Key, report);
            if (_output is not { } output)
            {
                return;
            }

            using var item = output.Begin(report.Reason is null ? LinkItemKind.Acked : LinkItemKind.Answered);
            item.Members.Number(session.Handle).Text(report.EventId);
            if (report.Reason is { } reason)
            {
                item.Members.Text(reason).OptionalText(report.Answer);
            }
        }
    }

    /// <summary>The hub listens: it gets all that it has not noted.</summary>
    public void Start(LinkQueue output)
    {
        lock (_gate)
        {
            _output = output;
            _bySession = null;
            _noted = 0;
            foreach (var (session, pass, report) in _held)
            {
                using var item = output.Begin(LinkItemKind.Reported);
                item.Members.Key(session).Bytes(pass.Span).Text(report.EventId).OptionalText(report.Reason).OptionalText(report.Answer);
            }
        }
    }

    /// <summary>Nobody listens.</summary>
    public void Stop()
    {
        lock (_gate)
        {
            _output = null;
            _bySession = null;
        }
    }

    /// <summary>The hub has so many of those that were said on this connection, from the first on.</summary>
    public void Noted(long count)
    {
        lock (_gate)
        {
            for (; _noted < count && _held.Count > 0; _noted++)
            {
                _held.Dequeue();
            }
        }
    }

    /// <summary>Sessions are about to be said again: until <see cref="Start"/> they are asked for their reports.</summary>
    public void Sort()
    {
        lock (_gate)
        {
            _bySession = [];
            foreach (var (session, _, report) in _held)
            {
                Sort(session, report);
            }
        }
    }

    /// <summary>The events that the session has reported by now. Nothing without <see cref="Sort()"/> before.</summary>
    public IReadOnlyList<string> Of(SessionKey session)
    {
        lock (_gate)
        {
            return _bySession?.GetValueOrDefault(session) is { } events ? [.. events] : [];
        }
    }

    // The caller has the gate.
    private void Sort(SessionKey session, in HeldReport report)
    {
        if (_bySession is null)
        {
            return;
        }

        if (!_bySession.TryGetValue(session, out var events))
        {
            _bySession.Add(session, events = []);
        }

        events.Add(report.EventId);
    }
}
