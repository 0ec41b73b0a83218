using System.Diagnostics.CodeAnalysis;
using Pnh.Channels.Net.Http;
using Pnh.Core.Push;
using Polly;
using Polly.CircuitBreaker;
using Polly.Retry;
using Polly.Timeout;

namespace Pnh.Channels.Provider.Sender;

/// <summary>What a provider's answers mean to the pipeline, and its times. The predicates are static: no state per delivery.</summary>
internal sealed record ProviderPipelineOptions
{
    /// <summary>All attempts and their pauses together.</summary>
    public required TimeSpan TotalTimeout { get; init; }

    /// <summary>One attempt, the wait for a connection included; what a sender prepares before is not.</summary>
    public required TimeSpan AttemptTimeout { get; init; }

    /// <summary>True for an answer that says the request was not carried out, so that sending it again cannot show it twice.</summary>
    public required Func<DeliveryResult, bool> IsSafeToRetry { get; init; }

    /// <summary>True for an answer that speaks of the provider's health; an answer about a device, a payload or a quota never does.</summary>
    public required Func<DeliveryResult, bool> IsOutage { get; init; }

    /// <summary>Adds strategies between the breaker and the attempt, such as Polly's chaos; null = none, as always outside of tests.</summary>
    public Action<ResiliencePipelineBuilder<Attempt>>? Chaos { get; init; }
}

/// <summary>
/// The one retry layer, outer to inner: total timeout, retry within the budget, circuit breaker, attempt timeout. Built once per sender. Everything that
/// takes longer than seconds is the hub's to schedule, so retries here are two at most and only where they are safe.
/// </summary>
internal static class ProviderPipeline
{
    public const int MaxRetries = 2;

    /// <summary>The reason of a result without a request, because the provider failed too often just now.</summary>
    public const string BreakerOpen = "breaker-open";

    /// <summary>A cold connection has one request in flight: twenty samples would take it half a minute.</summary>
    public const int BreakerMinimumThroughput = 10;

    /// <summary>Set on the context of what was tried again: whether any attempt reached the provider, though the last one may not have.</summary>
    public static readonly ResiliencePropertyKey<bool> WasAsked = new("was-asked");

    public static readonly TimeSpan BreakDuration = TimeSpan.FromSeconds(5);

    /// <param name="name">The channel: what the telemetry calls the pipeline.</param>
    /// <param name="options">Times and meanings.</param>
    /// <param name="budget">Of retries.</param>
    /// <param name="time">Clock.</param>
    /// <param name="breaker">Gets the breaker's state.</param>
    public static ResiliencePipeline<Attempt> Build(
        string name, ProviderPipelineOptions options, RetryBudget budget, TimeProvider time, CircuitBreakerStateProvider breaker)
    {
        var builder = new ResiliencePipelineBuilder<Attempt> { TimeProvider = time };
        if (options.Chaos is not null)
        {
            // Its delays stand outside of the attempt's timeout.
            builder.AddTimeout(new TimeoutStrategyOptions { Name = "total-timeout", Timeout = options.TotalTimeout });
        }

        var retry = new RetryWhenNeeded(
            Breaker(name, options, time, breaker), breaker, Retry(name, options, budget, time), outcome => IsCandidate(outcome, options), options.TotalTimeout, time);
        Add(builder, "retry", retry);
        options.Chaos?.Invoke(builder);
        Add(builder, "attempt-timeout", new AttemptTimeout(new Deadlines(options.AttemptTimeout, time)));
        return builder.Build();
    }

    [UnconditionalSuppressMessage("Trimming", "IL2026", Justification = "The options have no members but a name, so nothing that is looked up to be validated.")]
    private static void Add(ResiliencePipelineBuilder<Attempt> builder, string name, ResilienceStrategy<Attempt> strategy) =>
        builder.AddStrategy(_ => strategy, new EmptyOptions { Name = name });

    private static ResiliencePipeline<Attempt> Retry(string name, ProviderPipelineOptions options, RetryBudget budget, TimeProvider time) =>
        EventTelemetry.NewPipeline<Attempt>(name, time)
            .AddRetry(new RetryStrategyOptions<Attempt>
            {
                Name = "retry",
                MaxRetryAttempts = MaxRetries,
                BackoffType = DelayBackoffType.Exponential,
                UseJitter = true,
                Delay = TimeSpan.FromMilliseconds(150),
                MaxDelay = TimeSpan.FromSeconds(1),

                // Polly asks after the last attempt too, and then does nothing with the answer: that must not cost the budget.
                ShouldHandle = arguments => ValueTask.FromResult(
                    arguments.AttemptNumber < MaxRetries && IsCandidate(arguments.Outcome, options) && budget.TrySpend()),
            })
            .Build();

    private static ResiliencePipeline<Attempt> Breaker(string name, ProviderPipelineOptions options, TimeProvider time, CircuitBreakerStateProvider breaker) =>
        EventTelemetry.NewPipeline<Attempt>(name, time)
            .AddCircuitBreaker(new CircuitBreakerStrategyOptions<Attempt>
            {
                Name = "breaker",
                FailureRatio = 0.5,
                MinimumThroughput = BreakerMinimumThroughput,
                SamplingDuration = TimeSpan.FromSeconds(30),
                BreakDuration = BreakDuration,
                StateProvider = breaker,
                ShouldHandle = arguments => ValueTask.FromResult(arguments.Outcome switch
                {
                    { Exception: { } exception } => exception is TimeoutRejectedException,
                    { Result: var attempt } => attempt.Fault == SendFault.None ? options.IsOutage(attempt.Result) : attempt.IsFault,
                }),
            })
            .Build();

    private static bool IsCandidate(in Outcome<Attempt> outcome, ProviderPipelineOptions options) =>
        outcome is { Exception: null, Result: var attempt } && (attempt.IsUnsent || options.IsSafeToRetry(attempt.Result));

    /// <summary>The result for an exception out of the pipeline; null when it is a bug or a cancellation and must be thrown.</summary>
    public static DeliveryResult? ToResult(Exception exception) => exception switch
    {
        BrokenCircuitException broken => new DeliveryResult
        {
            Status = DeliveryStatus.Unavailable,
            Reason = BreakerOpen,
            RetryAfter = broken.RetryAfter ?? BreakDuration,
            IsHeld = true,
        },
        TimeoutRejectedException => DeliveryResult.Of(DeliveryStatus.Unavailable, "timeout"),
        _ => null,
    };

    /// <summary>For strategies that take none.</summary>
    private sealed class EmptyOptions : ResilienceStrategyOptions;
}
