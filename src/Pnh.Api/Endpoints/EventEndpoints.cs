using Pnh.Api.Access;
using Pnh.Api.Problems;
using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Api.Endpoints;

/// <summary>Where events come in: one, an array, or a stream of lines; and explain, which plans without sending.</summary>
internal sealed class EventEndpoints
{
    private readonly Hub _hub;
    private readonly EventReader _reader;
    private readonly EventBatches _batches;
    private readonly HubMetrics _metrics;
    private readonly TimeProvider _time;

    public EventEndpoints(Hub hub, EventReader reader, EventBatches batches, HubMetrics metrics, TimeProvider time)
    {
        _hub = hub;
        _reader = reader;
        _batches = batches;
        _metrics = metrics;
        _time = time;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPost("/v1/events", SendAsync).RequireScope(Scope.Send);
        routes.MapPost("/v1/events:explain", ExplainAsync).RequireScope(Scope.Send);
    }

    /// <summary>Reads one body into an event, or into the problem with it.</summary>
    internal Event? Read(HttpContext context, ReadOnlyMemory<byte> body, out Problem? problem)
    {
        var errors = new List<FieldError>();
        var origin = new EventOrigin(Caller.Of(context).App, _time.GetUtcNow(), _time.GetTimestamp(), TraceParent(context));
        var accepted = _reader.Read(body, origin, errors);
        problem = accepted is null ? EventAnswers.Invalid(errors) : null;
        return accepted;
    }

    private async Task SendAsync(HttpContext context)
    {
        if (RequestBody.IsType(context.Request.ContentType, RequestBody.Ndjson))
        {
            await (RequestBody.CheckType(context.Request, RequestBody.Ndjson)?.ExecuteAsync(context) ?? _batches.TakeLinesAsync(context));
            return;
        }

        var (body, problem) = await ReadOneAsync(context);
        if (problem is not null)
        {
            await problem.ExecuteAsync(context);
        }
        else if (body is null)
        {
            await _batches.TakeArrayAsync(context);
        }
        else if (EarlyRefusal.Sheds(_hub.Shedder, body, out var @class))
        {
            _metrics.EventCounted(Caller.Of(context).App, @class, EventResult.Overloaded);
            await EarlyRefusal.WriteAsync(context);
        }
        else if (Read(context, body, out problem) is { } accepted)
        {
            var result = await _hub.AcceptAsync(accepted, isAdmitted: true);
            await EventAnswers.WriteAsync(context, accepted, result);
        }
        else
        {
            _metrics.EventCounted(Caller.Of(context).App, EventClass.Message, EventResult.Invalid);
            await problem!.ExecuteAsync(context);
        }
    }

    private async Task ExplainAsync(HttpContext context)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        if (body.Problem is not null)
        {
            await body.Problem.ExecuteAsync(context);
        }
        else if (Read(context, body.Bytes.ToArray(), out var problem) is { } accepted)
        {
            context.Response.ContentType = RequestBody.Json;
            await PlanWriter.WriteAsync(context.Response.BodyWriter, accepted, _hub.ExplainAsync(accepted, context.RequestAborted));
        }
        else
        {
            await problem!.ExecuteAsync(context);
        }
    }

    /// <summary>
    /// One event's bytes, in an array of their own (the event keeps slices of it); neither body nor problem when the body is an array, of
    /// which nothing is consumed then.
    /// </summary>
    private static async ValueTask<(byte[]? Body, Problem? Problem)> ReadOneAsync(HttpContext context)
    {
        if (RequestBody.CheckType(context.Request, RequestBody.Json) is { } wrongType)
        {
            return (null, wrongType);
        }

        if (await EventBatches.StartsArrayAsync(context.Request.BodyReader, context.RequestAborted))
        {
            return (null, null);
        }

        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        return body.Problem is null ? (body.Bytes.ToArray(), null) : (null, body.Problem);
    }

    internal static string? TraceParent(HttpContext context)
    {
        // W3C Trace Context: 55 characters in version 00; anything else is not passed on.
        var header = context.Request.Headers.TraceParent;
        return header.Count == 1 && header[0] is { Length: 55 } value ? value : null;
    }
}
