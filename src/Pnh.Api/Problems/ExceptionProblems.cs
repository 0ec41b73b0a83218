using Microsoft.AspNetCore.Connections;
using Pnh.Core.Diagnostics;
using Pnh.Core.Stores;

namespace Pnh.Api.Problems;

/// <summary>
/// Turns what an endpoint throws into a problem: exceptions are faults here (storage, the wire, our bugs), never expected outcomes. Nothing of
/// an exception's text reaches the caller, except what <see cref="BadHttpRequestException"/> says of the caller's own request.
/// </summary>
internal sealed partial class ExceptionProblems
{
    private static readonly TimeSpan StoreRetryAfter = TimeSpan.FromSeconds(5);

    private readonly RequestDelegate _next;
    private readonly ILogger _logger;

    /// <summary>In front of <paramref name="next"/>.</summary>
    public ExceptionProblems(RequestDelegate next, ILogger<ExceptionProblems> logger, TimeProvider time)
    {
        _next = next;
        _logger = new PacedLog(logger, time);
    }

    /// <summary>Middleware entry.</summary>
    public async Task InvokeAsync(HttpContext context)
    {
        try
        {
            await _next(context);
        }
        catch (Exception exception) when (IsGone(exception, context))
        {
            // Nobody reads an answer.
            Log.Gone(_logger, Route(context), exception.Message);
            context.Abort();
        }
        catch (Exception exception)
        {
            Log.Failed(_logger, exception, Route(context));
            if (context.Response.HasStarted)
            {
                // Half an answer must not look like a whole one.
                context.Abort();
                return;
            }

            context.Response.Clear();
            await Of(exception, isRead: HttpMethods.IsGet(context.Request.Method) || HttpMethods.IsHead(context.Request.Method)).ExecuteAsync(context);
        }
    }

    private static string Route(HttpContext context) => (context.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText ?? "-";

    // A peer that resets its connection in the middle of a body is its own business. A broken request of a peer that is there gets its answer.
    private static bool IsGone(Exception exception, HttpContext context) => exception is ConnectionResetException or ConnectionAbortedException
        || (exception is OperationCanceledException or (IOException and not BadHttpRequestException) && context.RequestAborted.IsCancellationRequested);

    private static Problem Of(Exception exception, bool isRead) => exception switch
    {
        BadHttpRequestException { StatusCode: StatusCodes.Status413PayloadTooLarge } => new(ProblemCatalogue.BodyTooLarge),
        BadHttpRequestException { StatusCode: StatusCodes.Status408RequestTimeout } => new(ProblemCatalogue.RequestTimeout),
        BadHttpRequestException { StatusCode: StatusCodes.Status415UnsupportedMediaType } => new(ProblemCatalogue.UnsupportedMediaType),
        BadHttpRequestException bad => new(ProblemCatalogue.BadRequest, bad.Message),
        StoreUnavailableException { IsDamage: true } => new(ProblemCatalogue.StoreUnavailable, "It stands in a damaged part of the journal, and asking again brings it no more. The hub's log says where."),
        StoreUnavailableException when isRead => new(ProblemCatalogue.StoreUnavailable, "It cannot be read now. Ask again after the time in Retry-After.", retryAfter: StoreRetryAfter),
        StoreUnavailableException => new(ProblemCatalogue.StoreUnavailable, retryAfter: StoreRetryAfter),
        _ => new(ProblemCatalogue.InternalError),
    };
}
