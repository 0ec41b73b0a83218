using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Api.Problems;

/// <summary>
/// One refusal, as <c>application/problem+json</c> (RFC 9457) with the members <c>type</c>, <c>title</c>, <c>status</c>, <c>code</c>, and, when
/// there is something to say, <c>detail</c> and <c>errors:[{pointer,code,detail}]</c>. Immutable. An endpoint returns it like any result.
/// </summary>
internal sealed class Problem : IResult
{
    /// <summary>Media type of every problem.</summary>
    public const string MediaType = "application/problem+json";

    private static readonly JsonWriterOptions Unindented = new() { SkipValidation = true };

    /// <summary>A refusal of this kind.</summary>
    public Problem(ProblemKind kind, string? detail = null, IReadOnlyList<FieldError>? errors = null, TimeSpan? retryAfter = null)
    {
        Kind = kind;
        Detail = detail;
        Errors = errors ?? [];
        RetryAfter = retryAfter;
    }

    /// <summary>What kind.</summary>
    public ProblemKind Kind { get; }

    /// <summary>What is wrong this time, for a person; null = what the kind says to do about it, or the errors. Never a secret.</summary>
    public string? Detail { get; }

    /// <summary>Every wrong member; empty = not about members.</summary>
    public IReadOnlyList<FieldError> Errors { get; }

    /// <summary>When to come back; null = no Retry-After header. Rounded up to whole seconds.</summary>
    public TimeSpan? RetryAfter { get; }

    /// <summary>Value of the Retry-After header; null = none.</summary>
    public string? RetryAfterSeconds =>
        RetryAfter is { } wait ? ((long)Math.Ceiling(wait.TotalSeconds)).ToString(CultureInfo.InvariantCulture) : null;

    /// <inheritdoc/>
    public Task ExecuteAsync(HttpContext httpContext)
    {
        var response = httpContext.Response;
        if (RetryAfterSeconds is { } seconds)
        {
            response.Headers.RetryAfter = seconds;
        }

        response.StatusCode = Kind.Status;
        response.ContentType = MediaType;
        response.Headers.CacheControl = "no-store";
        var body = ToJson();
        response.ContentLength = body.Length;
        return response.Body.WriteAsync(body, httpContext.RequestAborted).AsTask();
    }

    /// <summary>The body.</summary>
    public ReadOnlyMemory<byte> ToJson()
    {
        var output = new ArrayBufferWriter<byte>(512);
        using (var json = new Utf8JsonWriter(output, Unindented))
        {
            WriteTo(json);
        }

        return output.WrittenMemory;
    }

    /// <summary>Writes the object, for a line of a streamed answer.</summary>
    public void WriteTo(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("type", Kind.Type);
        json.WriteString("title", Kind.Title);
        json.WriteNumber("status", Kind.Status);
        json.WriteString("code", Kind.Code);
        json.WriteString("help", Kind.Help);
        if ((Detail ?? (Errors.Count == 0 ? Kind.Remedy : null)) is { } detail)
        {
            json.WriteString("detail", detail);
        }

        if (Errors.Count > 0)
        {
            json.WriteStartArray("errors");
            foreach (var error in Errors)
            {
                json.WriteStartObject();
                json.WriteString("pointer", error.Pointer);
                json.WriteString("code", error.Code);
                json.WriteString("detail", error.Detail);
                json.WriteEndObject();
            }

            json.WriteEndArray();
        }

        json.WriteEndObject();
    }
}
