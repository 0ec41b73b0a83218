using Pnh.Core.Deliveries;
using Polly;
using Polly.CircuitBreaker;
using Polly.Retry;
using Polly.Timeout;

namespace Pnh.Channels.Http;

/// <summary>What a provider's answers mean to the pipeline, and its times. The predicates are static: no state per delivery.</summary>
internal sealed record ProviderPipelineOptions
{
    /// <summary>All attempts and their pauses together.</summary>
    public required TimeSpan TotalTimeout { get; init; }

    /// <summary>One attempt, connecting included.</summary>
    public required TimeSpan AttemptTimeout { get; init; }

    /// <summary>True for an answer that says the request was not carried out, so that sending it again cannot show it twice.</summary>
    public required Func<DeliveryResult, bool> IsSafeToRetry { get; init; }

    /// <summary>True for an answer that speaks of the provider's health; an answer about a device, a payload or a quota never does.</summary>
    public required Func<DeliveryResult, bool> IsOutage { get; init; }
}

/// <summary>
/// The one retry layer, outer to inner: total timeout, retry, circuit breaker, attempt timeout. Built once per sender. Everything that
/// takes longer than seconds is the hub's to schedule, so retries here are two at most and only where they are safe.
/// </summary>
internal static class ProviderPipeline
{
    public const int MaxRetries = 2;

    /// <summary>A cold lane has one request in flight: twenty samples would take it half a minute.</summary>
    public const int BreakerMinimumThroughput = 10;

    public static readonly TimeSpan BreakDuration = TimeSpan.FromSeconds(5);

    public static ResiliencePipeline<DeliveryResult> Build(
        ProviderPipelineOptions options, TimeProvider time, CircuitBreakerStateProvider breaker) =>
        new ResiliencePipelineBuilder<DeliveryResult> { TimeProvider = time }
            .AddTimeout(new TimeoutStrategyOptions { Name = "total-timeout", Timeout = options.TotalTimeout })
            .AddRetry(new RetryStrategyOptions<DeliveryResult>
            {
                Name = "retry",
                MaxRetryAttempts = MaxRetries,
                BackoffType = DelayBackoffType.Exponential,
                UseJitter = true,
                Delay = TimeSpan.FromMilliseconds(150),
                MaxDelay = TimeSpan.FromSeconds(1),
                ShouldHandle = arguments => ValueTask.FromResult(arguments.Outcome switch
                {
                    { Exception: { } exception } => NetworkFault.IsSafeToRetry(exception),
                    { Result: var result } => options.IsSafeToRetry(result),
                }),
            })
            .AddCircuitBreaker(new CircuitBreakerStrategyOptions<DeliveryResult>
            {
                Name = "breaker",
                FailureRatio = 0.5,
                MinimumThroughput = BreakerMinimumThroughput,
                SamplingDuration = TimeSpan.FromSeconds(30),
                BreakDuration = BreakDuration,
                StateProvider = breaker,
                ShouldHandle = arguments => ValueTask.FromResult(arguments.Outcome switch
                {
                    { Exception: { } exception } => NetworkFault.IsFault(exception),
                    { Result: var result } => options.IsOutage(result),
                }),
            })
            .AddTimeout(new TimeoutStrategyOptions { Name = "attempt-timeout", Timeout = options.AttemptTimeout })
            .Build();
}
