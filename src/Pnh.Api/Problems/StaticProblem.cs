using Microsoft.Extensions.Primitives;
using Pnh.Core.Hubs;

namespace Pnh.Api.Problems;

/// <summary>
/// A refusal whose every byte is known beforehand. Writing it allocates nothing of ours: what scanners and mistyped clients cost is decided
/// here. Thread-safe.
/// </summary>
internal sealed class StaticProblem
{
    private static readonly StringValues ContentType = Problem.MediaType;

    /// <summary>Encodes the problem once.</summary>
    public StaticProblem(ProblemKind kind, string? detail = null)
    {
        Status = kind.Status;
        Body = new Problem(kind, detail).ToJson();
    }

    /// <summary>HTTP status.</summary>
    public int Status { get; }

    /// <summary>The JSON.</summary>
    public ReadOnlyMemory<byte> Body { get; }

    /// <summary>404.</summary>
    public static StaticProblem NotFound { get; } = new(ProblemCatalogue.NotFound);

    /// <summary>405; the caller sets Allow.</summary>
    public static StaticProblem MethodNotAllowed { get; } = new(ProblemCatalogue.MethodNotAllowed);

    /// <summary>401; the caller sets WWW-Authenticate.</summary>
    public static StaticProblem Unauthorized { get; } = new(ProblemCatalogue.Unauthorized);

    /// <summary>429; the caller sets Retry-After.</summary>
    public static StaticProblem TooManyRequests { get; } = new(ProblemCatalogue.TooManyRequests);

    /// <summary>503; the caller sets Retry-After.</summary>
    public static StaticProblem MemoryFull { get; } = new(ProblemCatalogue.MemoryFull);

    /// <summary>503; the caller sets Retry-After.</summary>
    public static StaticProblem MemoryShare { get; } = new(ProblemCatalogue.MemoryFull, EventAcceptor.ShareUsedUp);

    /// <summary>Answers the request.</summary>
    public Task WriteAsync(HttpContext context)
    {
        var response = context.Response;
        response.StatusCode = Status;
        response.Headers.ContentType = ContentType;
        response.ContentLength = Body.Length;
        var write = response.Body.WriteAsync(Body);
        return write.IsCompletedSuccessfully ? Task.CompletedTask : write.AsTask();
    }
}
