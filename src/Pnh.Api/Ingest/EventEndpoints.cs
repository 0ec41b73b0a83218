using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.Ingest;

/// <summary>Where events come in: one, an array, or a stream of lines; and explain, which plans without sending.</summary>
internal sealed class EventEndpoints
{
    /// <summary>What a publisher's key must allow.</summary>
    internal const Scope Needed = Scope.Send;

    // W3C Trace Context: 55 characters in version 00; anything else is not passed on.
    internal const int TraceParentCharacters = 55;

    private readonly EventIntake _intake;
    private readonly EventBatches _batches;
    private readonly Hub _hub;
    private readonly CancellationToken _stopping;

    public EventEndpoints(EventIntake intake, EventBatches batches, Hub hub, IHostApplicationLifetime lifetime)
    {
        _intake = intake;
        _batches = batches;
        _hub = hub;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPost("/v1/events", SendAsync).RequireScope(Needed).TakesQuery("receipts");
        routes.MapPost("/v1/events:explain", ExplainAsync).RequireScope(Needed).TakesQuery("after");
    }

    private async Task SendAsync(HttpContext context)
    {
        EventBatches.LiftLimit(context); // a single event has a bound of its own
        var key = IdempotencyKey.Read(context, out var wrongKey);
        if (wrongKey is not null)
        {
            await wrongKey.ExecuteAsync(context);
            return;
        }

        if (RequestBody.IsType(context.Request.ContentType, RequestBody.Ndjson))
        {
            await ((RequestBody.CheckType(context.Request, RequestBody.Ndjson) ?? IdempotencyKey.OfBatch(key))?.ExecuteAsync(context) ?? _batches.TakeLinesAsync(context));
            return;
        }

        var (body, problem) = await ReadOneAsync(context);
        if (problem is not null)
        {
            await problem.ExecuteAsync(context);
        }
        else if (body is null)
        {
            await (IdempotencyKey.OfBatch(key)?.ExecuteAsync(context) ?? _batches.TakeArrayAsync(context));
        }
        else if (_intake.Ask(Caller.Of(context).App, body, SenderOf(context), out var place) is not DoorAnswer.Taken and var refusal)
        {
            await DoorRefusal.WriteAsync(context, refusal);
        }
        else if (_intake.ReadSent(Caller.Of(context).App, body, TraceParent(context), place, out problem, key) is { } accepted)
        {
            await EventAnswers.WriteAsync(context, accepted, await _intake.AcceptAsync(accepted, place));
        }
        else
        {
            await problem!.ExecuteAsync(context);
        }
    }

    private static int SenderOf(HttpContext context) => context.Connection.Id.GetHashCode(StringComparison.Ordinal);

    private async Task ExplainAsync(HttpContext context)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        if (body.Problem is not null)
        {
            await body.Problem.ExecuteAsync(context);
        }
        else if (_intake.Read(Caller.Of(context).App, body.Bytes.ToArray(), TraceParent(context), out var problem) is { } accepted)
        {
            var plan = await _hub.Explainer.ExplainAsync(accepted, context.Request.Query["after"].ToString(), context.RequestAborted);
            context.Response.ContentType = RequestBody.Json;
            await AnswerTime.WriteAsync(context, over => PlanWriter.WriteAsync(context.Response.BodyWriter, accepted, plan, over), _stopping);
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
    private async ValueTask<(byte[]? Body, Problem? Problem)> ReadOneAsync(HttpContext context)
    {
        if (RequestBody.CheckType(context.Request, RequestBody.Json) is { } wrongType)
        {
            return (null, wrongType);
        }

        if (await _batches.StartsArrayAsync(context) is not { } isArray)
        {
            return (null, new Problem(ProblemCatalogue.ShuttingDown, "Nothing was taken."));
        }

        if (isArray)
        {
            return (null, null);
        }

        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, Limits.EventBytes, context.RequestAborted);
        return body.Problem is null ? (body.Bytes.ToArray(), null) : (null, body.Problem);
    }

    internal static string? TraceParent(HttpContext context)
    {
        var header = context.Request.Headers.TraceParent;
        return header.Count == 1 && header[0] is { Length: TraceParentCharacters } value ? value : null;
    }
}
