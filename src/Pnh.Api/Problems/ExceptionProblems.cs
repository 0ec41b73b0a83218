using Pnh.Core.Devices;

namespace Pnh.Api.Problems;

/// <summary>
/// Turns what an endpoint throws into a problem: exceptions are faults here (storage, the wire, our bugs), never expected outcomes. Nothing of
/// an exception's text reaches the caller, except what <see cref="BadHttpRequestException"/> says of the caller's own request.
/// </summary>
internal sealed partial class ExceptionProblems
{
    private static readonly TimeSpan StoreRetryAfter = TimeSpan.FromSeconds(5);

    private readonly RequestDelegate _next;
    private readonly ILogger<ExceptionProblems> _logger;

    /// <summary>In front of <paramref name="next"/>.</summary>
    public ExceptionProblems(RequestDelegate next, ILogger<ExceptionProblems> logger)
    {
        _next = next;
        _logger = logger;
    }

    /// <summary>Middleware entry.</summary>
    public async Task InvokeAsync(HttpContext context)
    {
        try
        {
            await _next(context);
        }
        catch (OperationCanceledException) when (context.RequestAborted.IsCancellationRequested)
        {
            // The caller has gone: nobody reads an answer.
        }
        catch (Exception exception)
        {
            Log.Failed(_logger, exception, (context.GetEndpoint() as RouteEndpoint)?.RoutePattern.RawText ?? "-");
            if (context.Response.HasStarted)
            {
                // Half an answer must not look like a whole one.
                context.Abort();
                return;
            }

            context.Response.Clear();
            await Of(exception).ExecuteAsync(context);
        }
    }

    private static Problem Of(Exception exception) => exception switch
    {
        BadHttpRequestException { StatusCode: StatusCodes.Status413PayloadTooLarge } => new(ProblemCatalogue.BodyTooLarge),
        BadHttpRequestException { StatusCode: StatusCodes.Status408RequestTimeout } => new(ProblemCatalogue.RequestTimeout),
        BadHttpRequestException { StatusCode: StatusCodes.Status415UnsupportedMediaType } => new(ProblemCatalogue.UnsupportedMediaType),
        BadHttpRequestException bad => new(ProblemCatalogue.BadRequest, bad.Message),
        StoreUnavailableException => new(ProblemCatalogue.StoreUnavailable, retryAfter: StoreRetryAfter),
        _ => new(ProblemCatalogue.InternalError),
    };
}
