using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Routing;
using Pnh.Core.Journal;
using Pnh.Core.Push;

namespace Pnh.Api.Endpoints;

/// <summary>Events, newest first: those of a user with the user's share of each timeline, what did not arrive of all users, or all of the app.</summary>
internal sealed class UserEventsEndpoint
{
    private const int MostEvents = 100;
    private const int UsualEvents = 50;

    // Where a filter passes nearly nothing a request ends all the same, after some 50 ms, and says where to go on.
    private const int MostRead = 2_000;

    private readonly IEventJournal _journal;
    private readonly TimeProvider _time;
    private readonly CancellationToken _stopping;

    public UserEventsEndpoint(IEventJournal journal, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _journal = journal;
        _time = time;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/users/{user}/events", OfPathAsync).RequireScope(Scope.Read).TakesQuery("device", "state", "since", "before", "limit");
        routes.MapGet("/v1/events", OfQueryAsync).RequireScope(Scope.Read).TakesQuery("user", "device", "state", "since", "before", "limit");
    }

    private Task OfPathAsync(HttpContext context) => PathUser.TryRead(context, out var key, out var problem)
        ? AnswerAsync(context, new QueryReader(context), key.User)
        : problem!.ExecuteAsync(context);

    private Task OfQueryAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        var (user, state) = (query.Name("user"), query.State("state"));
        if (user is null && !NeedsNoUser(query.Name("device"), state))
        {
            query.Fail("user", "required", "Say whose events, or what did not arrive of all users: state=failed, expired or unconfirmed; or nothing of the three. What becomes of all events is in /v1/feed.");
        }

        return AnswerAsync(context, query, user);
    }

    private static bool NeedsNoUser(string? device, string? state) => DeliveryStateNames.IsFailure(state) || (device is null && state is null);

    private async Task AnswerAsync(HttpContext context, QueryReader query, string? user)
    {
        var filter = new DeliveryFilter(query.Name("device"), query.State("state"));
        var (since, before, limit) = (query.Time("since"), query.Text("before"), query.Number("limit", 1, MostEvents, absent: UsualEvents));
        if (query.Problem is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        try
        {
            var page = await ReadAsync(Caller.Of(context).App, user, filter, since, before, limit, context.RequestAborted);
            await AnswerTime.WriteAsync(context, over => WriteAsync(context.Response, user, page, over), _stopping);
        }
        catch (FormatException)
        {
            await QueryReader.NoCursor("before").ExecuteAsync(context);
        }
    }

    private async Task<UserEventPage> ReadAsync(
        string app, string? user, DeliveryFilter filter, DateTimeOffset? since, string? before, int limit, CancellationToken cancellationToken)
    {
        var found = new List<EventHistory>();
        var (next, read) = (before, 0);

        // Such a page reads some 16 MB of the log at most, also of other apps: no second one for one request.
        var isRecent = user is null && filter.State is null;
        do
        {
            var left = limit - found.Count;
            var page = await ReadAsync(app, user, filter.State, next, left, cancellationToken);
            read += left;
            next = page.Next;
            foreach (var history in page.Events)
            {
                if (history.Event.AcceptedAt < since)
                {
                    return new UserEventPage(found, null);
                }

                if (filter.Passes(history))
                {
                    found.Add(history);
                }
            }
        }
        while (next is not null && found.Count < limit && read < MostRead && !isRecent);

        return new UserEventPage(found, next);
    }

    private ValueTask<UserEventPage> ReadAsync(string app, string? user, string? state, string? before, int limit, CancellationToken cancellationToken) => (user, state) switch
    {
        ({ } one, _) => _journal.ReadUserAsync(app, one, before, limit, cancellationToken),
        (null, null) => _journal.ReadRecentAsync(app, before, limit, cancellationToken),
        _ => _journal.ReadFailuresAsync(app, before, limit, cancellationToken),
    };

    private async Task WriteAsync(HttpResponse response, string? user, UserEventPage page, CancellationToken over)
    {
        response.ContentType = RequestBody.Json;
        await using (var json = new Utf8JsonWriter(response.BodyWriter))
        {
            var pieces = new JsonPieces(json, response.BodyWriter);
            json.WriteStartObject();
            TimelineWriter.WriteOptional(json, "user", user);
            json.WriteStartArray("events");
            foreach (var history in page.Events)
            {
                TimelineWriter.WriteShare(json, new Timeline(history), _time.GetUtcNow());
                await pieces.FlushWhenDueAsync(over);
            }

            json.WriteEndArray();
            TimelineWriter.WriteOptional(json, "next", page.Next);
            json.WriteEndObject();
        }

        await response.BodyWriter.FlushAsync(over);
    }
}
