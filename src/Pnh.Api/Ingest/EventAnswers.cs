using System.Buffers;
using System.Text.Json;
using Pnh.Api.Bodies;
using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Hubs;

namespace Pnh.Api.Ingest;

/// <summary>What a publisher reads back for an event.</summary>
internal static class EventAnswers
{
    /// <summary>The problem of a body with errors: unreadable JSON and wrong members are told apart.</summary>
    internal static Problem Invalid(IReadOnlyList<FieldError> errors) => errors is [{ Code: "invalid-json" } malformed]
        ? new Problem(ProblemCatalogue.MalformedBody, malformed.Detail)
        : new Problem(ProblemCatalogue.InvalidBody, errors: errors);

    /// <summary>The problem of an event that was not taken; null when it was.</summary>
    internal static Problem? Refusal(in AcceptResult result) => result.Status switch
    {
        AcceptStatus.Conflict => new Problem(ProblemCatalogue.IdConflict, result.Detail),
        AcceptStatus.Overloaded => new Problem(ProblemCatalogue.TooManyRequests, result.Detail, retryAfter: result.RetryAfter),
        AcceptStatus.Unavailable => new Problem(ProblemCatalogue.StoreUnavailable, result.Detail, retryAfter: result.RetryAfter),
        AcceptStatus.MemoryFull => new Problem(ProblemCatalogue.MemoryFull, result.Detail, retryAfter: result.RetryAfter),
        AcceptStatus.Stopping => new Problem(ProblemCatalogue.ShuttingDown, result.Detail, retryAfter: result.RetryAfter),
        _ => null,
    };

    /// <summary>The status of the answer.</summary>
    internal static int StatusOf(in AcceptResult result) => Refusal(result)?.Kind.Status ?? StatusCodes.Status202Accepted;

    /// <summary>Writes the 202 or the problem.</summary>
    internal static Task WriteAsync(HttpContext context, Event accepted, in AcceptResult result)
    {
        if (Refusal(result) is { } problem)
        {
            return problem.ExecuteAsync(context);
        }

        var receipt = Receipt(accepted, result);
        context.Response.StatusCode = StatusCodes.Status202Accepted;
        context.Response.ContentType = RequestBody.Json;
        context.Response.ContentLength = receipt.Length;
        return context.Response.Body.WriteAsync(receipt, context.RequestAborted).AsTask();
    }

    /// <summary>The body of a 202.</summary>
    internal static ReadOnlyMemory<byte> Receipt(Event accepted, in AcceptResult result)
    {
        var output = new ArrayBufferWriter<byte>(128);
        using (var json = new Utf8JsonWriter(output))
        {
            WriteReceipt(json, accepted, result);
        }

        return output.WrittenMemory;
    }

    /// <summary>The same into a writer.</summary>
    internal static void WriteReceipt(Utf8JsonWriter json, Event accepted, in AcceptResult result)
    {
        json.WriteStartObject();
        WriteMembers(json, accepted, result);
        json.WriteEndObject();
    }

    /// <summary>The members of a receipt.</summary>
    internal static void WriteMembers(Utf8JsonWriter json, Event accepted, in AcceptResult result)
    {
        json.WriteString("id", accepted.Id);
        json.WriteBoolean("durable", accepted.IsDurable);
        if (result.Status == AcceptStatus.Duplicate)
        {
            json.WriteBoolean("duplicate", true);
        }

        if (result.HasNoDevices)
        {
            json.WriteNumber("devices", 0);
        }
    }
}
