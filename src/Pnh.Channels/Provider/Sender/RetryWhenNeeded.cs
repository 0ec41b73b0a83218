using System.Runtime.CompilerServices;
using Pnh.Channels.Provider.Connections;
using Polly;
using Polly.CircuitBreaker;
using Polly.Timeout;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Polly's total timeout, retry and circuit breaker, at the price that each has when it has something to do. Nearly every request is answered well at the first attempt:
/// it passes a closed breaker, which is told the outcome afterwards, and neither retry nor total timeout (longer than any attempt) ever hears of it. Polly's own
/// chain cost such a request 1,100 bytes and 3 us in state machines and a timer. Thread-safe.
/// </summary>
/// <param name="breaker">Polly's.</param>
/// <param name="state">Of the same.</param>
/// <param name="retry">Polly's; decides whether, how often and when.</param>
/// <param name="isCandidate">False for an outcome that <paramref name="retry"/> would leave alone anyway.</param>
/// <param name="totalTimeout">All attempts and their pauses.</param>
/// <param name="time">Clock.</param>
internal sealed class RetryWhenNeeded(
    ResiliencePipeline<Attempt> breaker,
    CircuitBreakerStateProvider state,
    ResiliencePipeline<Attempt> retry,
    Func<Outcome<Attempt>, bool> isCandidate,
    TimeSpan totalTimeout,
    TimeProvider time) : ResilienceStrategy<Attempt>
{
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<Outcome<Attempt>> ExecuteCore<TState>(
        Func<ResilienceContext, TState, ValueTask<Outcome<Attempt>>> callback, ResilienceContext context, TState request)
    {
        var start = time.GetTimestamp();
        Outcome<Attempt> first;
        if (state.CircuitState == CircuitState.Closed)
        {
            first = await callback(context, request);
            if (state.CircuitState == CircuitState.Closed)
            {
                // Counted as Polly counts; completes at once. What comes in after the breaker has opened changes nothing: its probe decides.
                await breaker.ExecuteOutcomeAsync(static (_, outcome) => ValueTask.FromResult(outcome), context, first);
            }
        }
        else
        {
            first = await ThroughBreakerAsync(Attempting(callback, request), context);
        }

        return isCandidate(first) ? await RetryAsync(first, start, Attempting(callback, request), context) : first;
    }

    // Here the caller's type of state ends: Polly wraps what it is given, so a strategy that gives it to a pipeline of its own makes states of states, without end for a
    // compiler ahead of time. In a method of its own, since the closure would be made for each push else.
    private static Func<ResilienceContext, ValueTask<Outcome<Attempt>>> Attempting<TState>(
        Func<ResilienceContext, TState, ValueTask<Outcome<Attempt>>> callback, TState request) => own => callback(own, request);

    private ValueTask<Outcome<Attempt>> ThroughBreakerAsync(Func<ResilienceContext, ValueTask<Outcome<Attempt>>> attempt, ResilienceContext context) =>
        breaker.ExecuteOutcomeAsync(static (context, attempt) => attempt(context), context, attempt);

    /// <summary>From here on Polly's retry is in charge: the first attempt's outcome is handed to it as its own.</summary>
    private async ValueTask<Outcome<Attempt>> RetryAsync(
        Outcome<Attempt> first, long start, Func<ResilienceContext, ValueTask<Outcome<Attempt>>> attempt, ResilienceContext context)
    {
        var left = totalTimeout - time.GetElapsedTime(start);
        using var total = new CancellationTokenSource(left > TimeSpan.Zero ? left : TimeSpan.Zero, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(total.Token, context.CancellationToken);
        var own = ResilienceContextPool.Shared.Get(context.OperationKey, continueOnCapturedContext: false, either.Token);
        var run = new Run(first, own => ThroughBreakerAsync(attempt, own));
        var outcome = await retry.ExecuteOutcomeAsync(static (context, run) => run.NextAsync(context), own, run);
        ResilienceContextPool.Shared.Return(own);
        context.Properties.Set(ProviderPipeline.WasAsked, run.WasAsked);
        if (total.IsCancellationRequested && !context.CancellationToken.IsCancellationRequested && IsCut(outcome) && run.Unsent is { } unsent)
        {
            // The time ended between two attempts, or while the last had no connection yet: what kept the one before it from leaving is what happened.
            return unsent;
        }

        return outcome.Exception is OperationCanceledException canceled && total.IsCancellationRequested && !context.CancellationToken.IsCancellationRequested
            ? Outcome.FromException<Attempt>(new TimeoutRejectedException("All attempts together took too long.", totalTimeout, canceled))
            : outcome;
    }

    /// <summary>Nothing happened any more but that the time was over.</summary>
    private static bool IsCut(in Outcome<Attempt> outcome) =>
        outcome.Exception is OperationCanceledException || outcome is { Exception: null, Result.Result.Reason: ConnectionPlace.Busy };

    private sealed class Run(Outcome<Attempt> first, Func<ResilienceContext, ValueTask<Outcome<Attempt>>> throughBreaker)
    {
        private bool _isFirstTaken;

        /// <summary>Any of the attempts reached the provider.</summary>
        public bool WasAsked { get; private set; }

        /// <summary>The last attempt that came to an end, when nothing of it left; null = something did, or nobody knows.</summary>
        public Outcome<Attempt>? Unsent { get; private set; }

        public async ValueTask<Outcome<Attempt>> NextAsync(ResilienceContext context)
        {
            var outcome = _isFirstTaken ? await throughBreaker(context) : first;
            _isFirstTaken = true;
            if (!IsCut(outcome) || outcome.Exception is not null)
            {
                Unsent = outcome is { Exception: null, Result.IsUnsent: true } ? outcome : null;
            }

            WasAsked |= outcome is { Exception: null, Result.Result.IsUnasked: false };
            return outcome;
        }
    }
}
