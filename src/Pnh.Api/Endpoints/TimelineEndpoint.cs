using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>What happened to an event, per delivery.</summary>
internal sealed class TimelineEndpoint
{
    private readonly IEventJournal _journal;
    private readonly HistoryReads _reads;
    private readonly TimeProvider _time;
    private readonly CancellationToken _stopping;

    public TimelineEndpoint(IEventJournal journal, HistoryReads reads, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _journal = journal;
        _reads = reads;
        _time = time;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes) => routes.MapGet("/v1/events/{id}", ReadAsync).RequireScope(Scope.Read).TakesQuery("user");

    private Task ReadAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        var user = query.Name("user");
        return PathEvent.TryRead(context, out var id, out var problem) && (problem = query.Problem) is null
            ? WriteAsync(context, Caller.Of(context).App, id, user)
            : problem!.ExecuteAsync(context);
    }

    /// <summary>Answers with the event's timeline, for one user or (null) all, or with a 404.</summary>
    internal async Task WriteAsync(HttpContext context, string app, string id, string? user)
    {
        var (isRead, history) = await _reads.ReadAsync(app, end => _journal.ReadAsync(app, id, end), context.RequestAborted);
        if (!isRead)
        {
            await HistoryReads.TooMany.ExecuteAsync(context);
            return;
        }

        if (history is null)
        {
            await PathEvent.Unknown.ExecuteAsync(context);
            return;
        }

        context.Response.ContentType = RequestBody.Json;
        await AnswerTime.WriteAsync(
            context, over => TimelineWriter.WriteAsync(context.Response.BodyWriter, new Timeline(history), user, _time.GetUtcNow(), over), _stopping);
    }
}

/// <summary>The event id of a path.</summary>
internal static class PathEvent
{
    /// <summary>No such event.</summary>
    internal static Problem Unknown { get; } = new(
        ProblemCatalogue.NoSuchItem, "There is no such event: it was never accepted, was transient, or is past its retention.");

    /// <summary>False with a problem when the id is not allowed.</summary>
    internal static bool TryRead(HttpContext context, out string id, out Problem? problem)
    {
        var isId = PathId.TryRead(context, "id", out var read) && Ids.IsEventId(read);
        id = read ?? "";
        problem = isId ? null : new Problem(
            ProblemCatalogue.InvalidId, $"The event id in the path must be 1 to {Limits.EventIdCharacters} characters of A-Z a-z 0-9 . _ : ~ @ -");
        return isId;
    }
}
