using System.Buffers;
using Microsoft.AspNetCore.Http.Features;
using Pnh.Api.Access;
using Pnh.Api.Bodies;
using Pnh.Api.Ingest;
using Pnh.Api.Problems;
using Pnh.Api.Routing;
using Pnh.Core.Events;
using Pnh.Core.Hubs;
using Pnh.Core.Journal;

namespace Pnh.Api.Endpoints;

/// <summary>Takes an event back, everywhere and once.</summary>
internal sealed class WithdrawEndpoint
{
    private const int BodyBytes = 1024;
    private const int ReasonCharacters = 64;
    private const string DefaultReason = "withdrawn";
    private static readonly SearchValues<char> ReasonAlphabet = SearchValues.Create("abcdefghijklmnopqrstuvwxyz0123456789-");
    private readonly Hub _hub;

    public WithdrawEndpoint(Hub hub) => _hub = hub;

    public void Map(IEndpointRouteBuilder routes) => routes.MapPost("/v1/events/{id}/withdraw", WithdrawAsync).RequireScope(Scope.Send);

    private async Task WithdrawAsync(HttpContext context)
    {
        if (!PathEvent.TryRead(context, out var id, out var problem))
        {
            await problem!.ExecuteAsync(context);
            return;
        }

        var (reason, wrong) = await ReadReasonAsync(context);
        if (wrong is not null)
        {
            await wrong.ExecuteAsync(context);
            return;
        }

        // Not given up with its caller: once durable, it is carried out.
        var status = await _hub.WithdrawAsync(Caller.Of(context).App, id, reason, user: null, CancellationToken.None);
        await (status == WithdrawStatus.Unknown
            ? PathEvent.Unknown.ExecuteAsync(context)
            : JsonAnswer.WriteAsync(context.Response, new(id, true, status == WithdrawStatus.Already ? true : null), AnswersJson.Default.WithdrawnBody));
    }

    /// <summary>The body's reason, or the default when there is no body.</summary>
    private static async ValueTask<(string Reason, Problem? Problem)> ReadReasonAsync(HttpContext context)
    {
        if (context.Request.ContentLength is 0 || context.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: false })
        {
            return (DefaultReason, null);
        }

        using var body = await RequestBody.ReadAsync(context.Request, RequestBody.Json, BodyBytes, context.RequestAborted);
        if (body.Problem is not null)
        {
            return (DefaultReason, body.Problem);
        }

        var errors = new List<FieldError>();
        var reason = ObjectBody.Read(body.Bytes, errors, ReadMembers) ?? DefaultReason;
        return (reason, errors.Count == 0 ? null : EventAnswers.Invalid(errors));
    }

    private static string? ReadMembers(ref JsonCursor cursor)
    {
        string? reason = null;
        var seen = 0u;
        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("reason"u8))
            {
                cursor.Once(ref seen, 0, "/reason");
                reason = ReadReason(ref cursor);
            }
            else
            {
                cursor.Unknown("", name);
            }
        }

        cursor.LeaveBody();
        return reason;
    }

    private static string? ReadReason(ref JsonCursor cursor)
    {
        var reason = cursor.ReadString("/reason", ReasonCharacters);
        if (reason is { Length: 0 } || (reason is not null && reason.AsSpan().ContainsAnyExcept(ReasonAlphabet)))
        {
            cursor.Fail("/reason", "invalid-reason", $"1 to {ReasonCharacters} characters of a-z 0-9 -");
        }

        return reason;
    }
}
