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

    private readonly EventSearch _search;
    private readonly HistoryReads _reads;
    private readonly TimeProvider _time;
    private readonly CancellationToken _stopping;

    public UserEventsEndpoint(EventSearch search, HistoryReads reads, TimeProvider time, IHostApplicationLifetime lifetime)
    {
        _search = search;
        _reads = reads;
        _time = time;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/users/{user}/events", OfPathAsync).RequireScope(Scope.Read).TakesQuery("device", "state", "channel", "since", "before", "limit");
        routes.MapGet("/v1/events", OfQueryAsync).RequireScope(Scope.Read).TakesQuery("user", "device", "state", "channel", "since", "before", "limit");
    }

    private Task OfPathAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        return PathUser.TryRead(context, out var key, out var problem)
            ? AnswerAsync(context, query, key.User, DeliveryFilter.Read(query))
            : problem!.ExecuteAsync(context);
    }

    private Task OfQueryAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        var (user, filter) = (query.Name("user"), DeliveryFilter.Read(query));
        if (user is null && !NeedsNoUser(filter))
        {
            query.Fail("user", "required", "Say whose events, or what did not arrive of all users: state=failed, expired or unconfirmed; or neither device, state nor channel. What becomes of all events is in /v1/feed.");
        }

        return AnswerAsync(context, query, user, filter);
    }

    private static bool NeedsNoUser(DeliveryFilter filter) => filter.IsAll || DeliveryStateNames.IsFailure(filter.State);

    private async Task AnswerAsync(HttpContext context, QueryReader query, string? user, DeliveryFilter filter)
    {
        var (since, before, limit) = (query.Time("since"), query.Text("before"), query.Number("limit", 1, MostEvents, absent: UsualEvents));
        if (query.Problem is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        try
        {
            var asked = new EventQuery(Caller.Of(context).App, user, OnlyFailures: user is null && filter.State is not null, filter, before, limit) { Since = since };
            if (await _search.ReadAsync(asked, context.RequestAborted) is not { } page)
            {
                await HistoryReads.TooMany.ExecuteAsync(context);
                return;
            }

            await _reads.WriteAsync(() => AnswerTime.WriteAsync(context, over => WriteAsync(context.Response, user, page, over), _stopping));
        }
        catch (FormatException)
        {
            await QueryReader.NoCursor("before").ExecuteAsync(context);
        }
    }

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
