using Pnh.Api.Endpoints;
using Pnh.Api.Problems;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Api.Ingest;

/// <summary>
/// One posted event from its bytes to the hub, for whoever speaks HTTP: what is refused and what is counted is decided here. Thread-safe.
/// </summary>
internal sealed class EventIntake
{
    [ThreadStatic]
    private static List<FieldError>? _errors;

    private readonly Hub _hub;
    private readonly EventReader _reader;
    private readonly HubMetrics _metrics;
    private readonly TimeProvider _time;

    public EventIntake(Hub hub, EventReader reader, HubMetrics metrics, TimeProvider time)
    {
        _hub = hub;
        _reader = reader;
        _metrics = metrics;
        _time = time;
    }

    /// <summary>
    /// Why the event shall be refused unread, which is counted; null = it shall not. <paramref name="sender"/> is a number of the connection.
    /// </summary>
    public StaticProblem? Refuse(string app, ReadOnlySpan<byte> body, int sender)
    {
        var refusal = EarlyRefusal.Find(_hub, app, body, sender, out var @class);
        if (refusal is not null)
        {
            _metrics.EventCounted(app, @class, EventResult.Overloaded);
        }

        return refusal;
    }

    /// <summary>Reads a body, which the event keeps slices of; null with the problem when it is no event. Counts nothing.</summary>
    public Event? Read(string app, ReadOnlyMemory<byte> body, string? traceParent, out Problem? problem)
    {
        // An error's list goes with its problem; without one it serves the next event of this thread.
        var errors = _errors ?? [];
        _errors = null;
        var accepted = _reader.Read(body, new EventOrigin(app, _time.GetUtcNow(), _time.GetTimestamp(), traceParent), errors);
        problem = accepted is null ? EventAnswers.Invalid(errors) : null;
        _errors = accepted is null ? null : errors;
        return accepted;
    }

    /// <summary>The same for an event that was sent, not only asked about: an invalid one is counted.</summary>
    public Event? ReadSent(string app, ReadOnlyMemory<byte> body, string? traceParent, out Problem? problem)
    {
        var accepted = Read(app, body, traceParent, out problem);
        if (accepted is null)
        {
            _metrics.EventCounted(app, EventClass.Message, EventResult.Invalid);
        }

        return accepted;
    }

    /// <summary>Gives it to the hub, after <see cref="Refuse"/> let it through.</summary>
    public ValueTask<AcceptResult> AcceptAsync(Event accepted) => _hub.AcceptAsync(accepted, isAdmitted: true);
}
