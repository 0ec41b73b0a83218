using System.Runtime.CompilerServices;
using Polly;
using Polly.Timeout;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Polly's timeout strategy for one attempt, without its timer, token source and state machine per call (some 900 bytes and 2 us). Also turns what the attempt
/// throws into a value, as Polly wants it: past the deadline that is the timeout, whatever the cancelled work threw. Thread-safe.
/// </summary>
internal sealed class AttemptTimeout(Deadlines deadlines) : ResilienceStrategy<Attempt>
{
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<Outcome<Attempt>> ExecuteCore<TState>(
        Func<ResilienceContext, TState, ValueTask<Outcome<Attempt>>> callback, ResilienceContext context, TState state)
    {
        var deadline = deadlines.Begin(context.CancellationToken);
        var own = ResilienceContextPool.Shared.Get(context.OperationKey, continueOnCapturedContext: false, deadline.Token);
        Outcome<Attempt> outcome;
        try
        {
            outcome = await callback(own, state);
        }
        catch (Exception thrown)
        {
            outcome = Outcome.FromException<Attempt>(thrown);
        }

        ResilienceContextPool.Shared.Return(own);
        return deadlines.End(deadline) && outcome.Exception is { } exception && !context.CancellationToken.IsCancellationRequested
            ? Outcome.FromException<Attempt>(new TimeoutRejectedException("The attempt took too long.", deadlines.Length, exception))
            : outcome;
    }
}
