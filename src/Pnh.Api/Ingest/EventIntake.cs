using Pnh.Api.Problems;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Intake;

namespace Pnh.Api.Ingest;

/// <summary>
/// One posted event from its bytes to the hub, for both ways of serving HTTP: what is refused and what is counted is decided here. Thread-safe.
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
    /// What the door says to the event, still unread; a refusal is counted. What is refused must cost next to nothing, or refusing becomes the load: only its class is looked
    /// for, and only while that decides anything. <paramref name="sender"/> is a number of the connection; the <paramref name="place"/> goes to <see cref="ReadSent"/>.
    /// </summary>
    public DoorAnswer Ask(string app, ReadOnlySpan<byte> body, int sender, out IntakeGate.Place place)
    {
        place = default;
        if (!_hub.Acceptor.MayRefuse)
        {
            return DoorAnswer.Taken;
        }

        var @class = ClassPeek.ClassIn(body);
        var answer = _hub.Acceptor.Ask(app, @class, sender, out place);
        if (answer != DoorAnswer.Taken)
        {
            _metrics.EventCounted(app, @class, EventResult.Overloaded);
        }

        return answer;
    }

    /// <summary>Reads a body, which the event keeps slices of; null with the problem when it is no event. Counts nothing.</summary>
    /// <param name="app">Whose event.</param>
    /// <param name="body">One event in JSON.</param>
    /// <param name="traceParent">The request's; null = none.</param>
    /// <param name="problem">Why it is none.</param>
    /// <param name="key">The id that the request gives beside the body (Idempotency-Key); null = none.</param>
    public Event? Read(string app, ReadOnlyMemory<byte> body, string? traceParent, out Problem? problem, string? key = null)
    {
        // An error's list goes with its problem; without one it serves the next event of this thread.
        var errors = _errors ?? [];
        _errors = null;
        var accepted = _reader.Read(body, new EventOrigin(app, _time.GetUtcNow(), _time.GetTimestamp(), traceParent, Key: key), errors);
        if (accepted is not null && key is not null && !string.Equals(accepted.Id, key, StringComparison.Ordinal))
        {
            errors.Add(new FieldError("/id", "other-id", "The header Idempotency-Key gives another id."));
            accepted = null;
        }

        problem = accepted is null ? EventAnswers.Invalid(errors) : null;
        _errors = accepted is null ? null : errors;
        return accepted;
    }

    /// <summary>The same for an event that was sent, not only asked about: an invalid one is counted, and gives its place back.</summary>
    public Event? ReadSent(string app, ReadOnlyMemory<byte> body, string? traceParent, IntakeGate.Place place, out Problem? problem, string? key = null)
    {
        Event? accepted = null;
        try
        {
            accepted = Read(app, body, traceParent, out problem, key);
        }
        finally
        {
            if (accepted is null)
            {
                _hub.Acceptor.Gate.Leave(place);
                _metrics.EventCounted(app, EventClass.Message, EventResult.Invalid);
            }
        }

        return accepted;
    }

    /// <summary>Gives it to the hub, after <see cref="Ask"/> let it through.</summary>
    public ValueTask<AcceptResult> AcceptAsync(Event accepted, IntakeGate.Place place) => _hub.Acceptor.AcceptAsync(accepted, place);
}
