using System.Text.Json;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Channels.WebSockets.Protocol;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Users;

namespace Pnh.Api.Endpoints;

/// <summary>A device's mailbox over HTTP: what a phone that a push woke up fetches and acknowledges without opening a socket.</summary>
internal sealed class InboxEndpoints
{
    private readonly Hub _hub;
    private readonly CancellationToken _stopping;

    public InboxEndpoints(Hub hub, IHostApplicationLifetime lifetime)
    {
        _hub = hub;
        _stopping = lifetime.ApplicationStopping;
    }

    public void Map(IEndpointRouteBuilder routes)
    {
        routes.MapGet("/v1/inbox", ReadAsync).RequireClient().TakesQuery("device", "after");
        routes.MapPost("/v1/inbox/ack", AckAsync).RequireClient();
    }

    private async Task ReadAsync(HttpContext context)
    {
        var query = new QueryReader(context);
        var device = query.Name("device");
        var after = query.Text("after");
        if (device is null)
        {
            query.Fail("device", "required", "Say which device of yours asks.");
        }

        if ((query.Problem ?? DenyDevice(context, device!)) is { } problem)
        {
            await problem.ExecuteAsync(context);
            return;
        }

        try
        {
            var page = await _hub.Inbox.ReadAsync(UserOf(context), device!, after, context.RequestAborted);
            await AnswerTime.WriteAsync(context, over => WriteAsync(context.Response, page, over), _stopping);
        }
        catch (FormatException)
        {
            await QueryReader.NoCursor("after").ExecuteAsync(context);
        }
    }

    private async Task AckAsync(HttpContext context)
    {
        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, InboxAck.BodyBytes, context.RequestAborted);
        var errors = new List<FieldError>();
        if (body.Problem is not null)
        {
            await body.Problem.ExecuteAsync(context);
        }
        else if (InboxAck.Read(body.Bytes, errors) is not { } ack)
        {
            await EventAnswers.Invalid(errors).ExecuteAsync(context);
        }
        else if (DenyDevice(context, ack.Device) is { } denied)
        {
            await denied.ExecuteAsync(context);
        }
        else
        {
            var acked = await _hub.Inbox.AckAsync(UserOf(context), ack.Device, ack.Ids, context.RequestAborted);
            await JsonAnswer.WriteAsync(context.Response, new AckedBody(acked), AnswersJson.Default.AckedBody);
        }
    }

    // A page is 100 events of 64 kB at most, so it leaves in pieces.
    private static async Task WriteAsync(HttpResponse response, InboxPage page, CancellationToken over)
    {
        response.ContentType = RequestBody.Json;
        await using (var json = new Utf8JsonWriter(response.BodyWriter))
        {
            var pieces = new JsonPieces(json, response.BodyWriter);
            json.WriteStartObject();
            json.WriteStartArray("events");
            foreach (var item in page.Items)
            {
                json.WriteRawValue(InboxForm.Of(item), skipInputValidation: true);
                await pieces.FlushWhenDueAsync(over);
            }

            json.WriteEndArray();
            TimelineWriter.WriteOptional(json, "next", page.Next);
            json.WriteEndObject();
        }

        await response.BodyWriter.FlushAsync(over);
    }

    private static UserKey UserOf(HttpContext context)
    {
        var client = Caller.Of(context).Client!;
        return new UserKey(client.App, client.User);
    }

    private static Problem? DenyDevice(HttpContext context, string device) =>
        Caller.Of(context).Client!.Device is { } bound && !string.Equals(bound, device, StringComparison.Ordinal)
            ? new Problem(ProblemCatalogue.Forbidden, "This client token is for another device.")
            : null;
}
