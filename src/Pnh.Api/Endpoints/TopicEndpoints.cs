using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Stores;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>Who belongs to a topic.</summary>
internal sealed class TopicEndpoints
{
    private readonly Hub _hub;
    private readonly IDeviceStore _devices;
    private readonly HistoryReads _reads;
    private readonly CancellationToken _stopping;

    public TopicEndpoints(Hub hub, IDeviceStore devices, HistoryReads reads, IHostApplicationLifetime lifetime)
    {
        _hub = hub;
        _devices = devices;
        _reads = reads;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapPut("/v1/topics/{topic}/members/{user}", AddAsync).RequireScope(Scope.Register);
        routes.MapDelete("/v1/topics/{topic}/members/{user}", RemoveAsync).RequireScope(Scope.Register);
        routes.MapGet("/v1/topics/{topic}/members", ListAsync).RequireScope(Scope.Read);
        routes.MapPost("/v1/topics/{topic}/members", ChangeManyAsync).RequireScope(Scope.Register);
    }

    private Task AddAsync(HttpContext context) => ChangeAsync(context, async (app, topic, user) =>
        await _hub.Memberships.AddAsync(new TopicKey(app, topic), user, context.RequestAborted) == AddMemberResult.TooManyTopics
            ? new Problem(ProblemCatalogue.TooManyTopics, FormattableString.Invariant($"The user is a member of {Limits.TopicsPerUser} topics."))
            : null);

    private Task RemoveAsync(HttpContext context) => ChangeAsync(context, async (app, topic, user) =>
    {
        await _hub.Memberships.RemoveAsync(new TopicKey(app, topic), user, context.RequestAborted);
        return null;
    });

    private static async Task ChangeAsync(HttpContext context, Func<string, string, string, Task<Problem?>> change)
    {
        if (PathUser.Name(context, "topic", out var problem) is not { } topic || PathUser.Name(context, PathId.User, out problem) is not { } user)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        if (await change(Caller.Of(context).App, topic, user) is { } refusal)
        {
            await refusal.ExecuteAsync(context);
            return;
        }

        context.Response.StatusCode = StatusCodes.Status204NoContent;
    }

    /// <summary>Each is on stable storage when this is answered; together they are no transaction, and may be sent again.</summary>
    private async Task ChangeManyAsync(HttpContext context)
    {
        if (PathUser.Name(context, "topic", out var problem) is not { } topic)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, MemberChanges.BodyBytes, context.RequestAborted);
        var errors = new List<FieldError>();
        if (body.Problem is not null)
        {
            await body.Problem.ExecuteAsync(context);
        }
        else if (MemberChanges.Read(body.Bytes, errors) is not { } changes)
        {
            await EventAnswers.Invalid(errors).ExecuteAsync(context);
        }
        else
        {
            await JsonAnswer.WriteAsync(context.Response, await ChangeAsync(new TopicKey(Caller.Of(context).App, topic), changes, context.RequestAborted), AnswersJson.Default.MembersBody);
        }
    }

    private async Task<MembersBody> ChangeAsync(TopicKey topic, MemberChanges changes, CancellationToken cancellationToken)
    {
        var added = await Task.WhenAll(changes.Add.Select(user => _hub.Memberships.AddAsync(topic, user, cancellationToken)));
        var removed = await Task.WhenAll(changes.Remove.Select(user => _hub.Memberships.RemoveAsync(topic, user, cancellationToken)));
        List<string> refused = [.. changes.Add.Where((_, n) => added[n] == AddMemberResult.TooManyTopics)];
        return new MembersBody(added.Count(static one => one == AddMemberResult.Added), removed.Count(static one => one), refused.Count > 0 ? refused : null);
    }

    private async Task ListAsync(HttpContext context)
    {
        if (PathUser.Name(context, "topic", out var problem) is not { } topic)
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        await AnswerTime.WriteAsync(context, over => WriteAsync(context, topic, over), _stopping);
    }

    private async Task WriteAsync(HttpContext context, string topic, CancellationToken over)
    {
        var (app, response) = (Caller.Of(context).App, context.Response);
        response.ContentType = RequestBody.Json;
        await using (var json = new Utf8JsonWriter(response.BodyWriter))
        {
            var isBegun = false;
            if (!await _reads.WriteAsync(app, _devices.GetMembersAsync(app, topic, over), Write, SendAsync, over))
            {
                await HistoryReads.TooMany.ExecuteAsync(context);
                return;
            }

            Begin();
            json.WriteEndArray();
            json.WriteEndObject();

            void Write(string member)
            {
                Begin();
                json.WriteStringValue(member);
            }

            void Begin()
            {
                if (!isBegun)
                {
                    isBegun = true;
                    json.WriteStartObject();
                    json.WriteString("topic", topic);
                    json.WriteStartArray("members");
                }
            }

            async ValueTask SendAsync()
            {
                await json.FlushAsync(over);
                await response.BodyWriter.FlushAsync(over);
            }
        }

        await response.BodyWriter.FlushAsync(over);
    }
}
