using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Push;
using Pnh.TestKit;
using Polly;
using Polly.CircuitBreaker;
using Polly.Simmy;
using Polly.Simmy.Latency;
using Polly.Simmy.Outcomes;
using Polly.Timeout;

namespace Pnh.Channels.Tests.Http;

public sealed class ProviderPipelineTests
{
    private static readonly Attempt Accepted = Attempt.Answered(DeliveryResult.Of(DeliveryStatus.Accepted), 200);
    private static readonly Attempt Safe = Attempt.Answered(DeliveryResult.Of(DeliveryStatus.Unavailable, "safe"), 503);
    private static readonly Attempt Outage = Attempt.Answered(DeliveryResult.Of(DeliveryStatus.Unavailable, "outage"), 503);

    private readonly FakeTimeProvider _time = new();
    private CircuitBreakerStateProvider _breaker = null!;
    private readonly ResiliencePipeline<Attempt> _pipeline;
    private readonly string _name = $"apns-{Guid.NewGuid()}"; // no other test's
    private int _attempts;

    public ProviderPipelineTests() => _pipeline = Build(chaos: null);

    [Fact]
    public async Task Execute_SafeAnswer_TriedThreeTimesInAll()
    {
        Assert.Equal(Safe, (await RunAsync(_ => ValueTask.FromResult(Safe))).Result);
        Assert.Equal(1 + ProviderPipeline.MaxRetries, _attempts);
    }

    [Fact]
    public async Task Execute_UnsafeAnswer_TriedOnce()
    {
        Assert.Equal(Outage, (await RunAsync(_ => ValueTask.FromResult(Outage))).Result);
        Assert.Equal(1, _attempts);
    }

    [Fact]
    public async Task Execute_ConnectFailureThenAccepted_Accepted()
    {
        var outcome = await RunAsync(_ => _attempts == 1
            ? ValueTask.FromResult(Attempt.Failed(SendFault.NotSent, "connect-failed"))
            : ValueTask.FromResult(Accepted));

        Assert.Equal(Accepted, outcome.Result);
        Assert.Equal(2, _attempts);
    }

    [Theory]
    [InlineData(nameof(SendFault.NotSent), 3)]
    [InlineData(nameof(SendFault.Refused), 3)]
    [InlineData(nameof(SendFault.AboveLastStream), 3)]
    [InlineData(nameof(SendFault.Ambiguous), 1)]
    public async Task Execute_Fault_TriedAgainOnlyWhenSurelyNotCarriedOut(string name, int attempts)
    {
        var fault = Enum.Parse<SendFault>(name);
        var outcome = await RunAsync(_ => ValueTask.FromResult(Attempt.Failed(fault, "gone")));

        Assert.Equal(fault, outcome.Result.Fault);
        Assert.Equal(fault == SendFault.NotSent, outcome.Result.Result.IsUnasked);
        Assert.Equal(attempts, _attempts);
    }

    [Fact]
    public async Task Execute_AllFull_NoFaultOfTheProvider()
    {
        for (var i = 0; i < 5 * ProviderPipeline.BreakerMinimumThroughput; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Attempt.Failed(SendFault.NotSent, ConnectionPlace.Busy)));
        }

        Assert.Equal(CircuitState.Closed, _breaker.CircuitState);
    }

    [Fact]
    public async Task Execute_SlowAttempt_AttemptTimeoutAndNoRetry()
    {
        var outcome = await RunAsync(async cancellation =>
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, _time, cancellation);
            return Accepted;
        });

        var rejected = Assert.IsType<TimeoutRejectedException>(outcome.Exception);
        Assert.Equal(TimeSpan.FromSeconds(4), rejected.Timeout);
        Assert.Equal(1, _attempts);
        Assert.Equal("timeout", ProviderPipeline.ToResult(rejected)!.Value.Reason);
    }

    [Fact]
    public async Task Execute_BreaksByItsDeadline_TimeoutAndNoBug()
    {
        var outcome = await RunAsync(async cancellation =>
        {
            try
            {
                await Task.Delay(Timeout.InfiniteTimeSpan, _time, cancellation);
            }
            catch (OperationCanceledException)
            {
                throw new IOException("cut off");
            }

            return Accepted;
        });

        var result = ProviderPipeline.ToResult(outcome.Exception!)!.Value;
        Assert.Equal((DeliveryStatus.Unavailable, "timeout"), (result.Status, result.Reason));
    }

    [Fact]
    public async Task Execute_BreaksBeforeItsDeadline_ThrownAsItIs() =>
        Assert.IsType<IOException>((await RunAsync(static _ => throw new IOException("bug"))).Exception);

    [Fact]
    public async Task Execute_SlowAndRefusedInTurn_TotalTimeoutStandsOutside()
    {
        // 3.9 s each and then a safe refusal: the third attempt is cut by the total of 10 s, not by its own 4 s.
        var outcome = await RunAsync(async cancellation =>
        {
            await Task.Delay(TimeSpan.FromSeconds(3.9), _time, cancellation);
            return Safe;
        });

        Assert.Equal(TimeSpan.FromSeconds(10), Assert.IsType<TimeoutRejectedException>(outcome.Exception).Timeout);
        Assert.Equal(3, _attempts);
    }

    [Fact]
    public async Task Execute_NeverConnectedUntilTheTotalTimeout_TheFaultBeforeIsTheReason()
    {
        // As a sender does: who waits for a place takes the end of its time as "no place".
        var outcome = await RunAsync(async cancellation =>
        {
            try
            {
                await Task.Delay(TimeSpan.FromSeconds(3.9), _time, cancellation);
            }
            catch (OperationCanceledException)
            {
                return Attempt.Failed(SendFault.NotSent, ConnectionPlace.Busy);
            }

            return Attempt.Failed(SendFault.NotSent, "connect-timeout");
        });

        Assert.Equal((3, "connect-timeout", true), (_attempts, outcome.Result.Result.Reason, outcome.Result.Result.IsUnasked));
    }

    [Fact]
    public async Task Execute_ManyOutages_BreakerOpensAndClosesAfterItsPause()
    {
        for (var i = 0; i < ProviderPipeline.BreakerMinimumThroughput; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Outage));
        }

        Assert.Equal(CircuitState.Open, _breaker.CircuitState);
        _attempts = 0;
        var refused = await RunAsync(_ => ValueTask.FromResult(Accepted));
        Assert.Equal(0, _attempts);
        var result = ProviderPipeline.ToResult(Assert.IsType<BrokenCircuitException>(refused.Exception))!.Value;
        Assert.Equal((DeliveryStatus.Unavailable, "breaker-open"), (result.Status, result.Reason));
        Assert.InRange(result.RetryAfter!.Value, TimeSpan.FromMilliseconds(1), ProviderPipeline.BreakDuration);

        _time.Advance(ProviderPipeline.BreakDuration + TimeSpan.FromMilliseconds(1));
        Assert.Equal(Accepted, (await RunAsync(_ => ValueTask.FromResult(Accepted))).Result);
        Assert.Equal(CircuitState.Closed, _breaker.CircuitState);
    }

    [Fact]
    public async Task Execute_RetriesAreSeenByTheBreaker()
    {
        // Retry stands outside the breaker: 4 calls of 3 attempts reach the throughput of 10.
        for (var i = 0; i < 4; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Safe));
        }

        Assert.Equal(CircuitState.Open, _breaker.CircuitState);
    }

    [Theory]
    [InlineData(DeliveryStatus.AddressDead)]
    [InlineData(DeliveryStatus.Rejected)]
    [InlineData(DeliveryStatus.Throttled)]
    [InlineData(DeliveryStatus.Misconfigured)]
    public async Task Execute_DeviceLevelAnswers_NeverOpenTheBreaker(DeliveryStatus status)
    {
        for (var i = 0; i < 5 * ProviderPipeline.BreakerMinimumThroughput; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Attempt.Answered(DeliveryResult.Of(status), 400)));
        }

        Assert.Equal(CircuitState.Closed, _breaker.CircuitState);
    }

    /// <summary>
    /// Polly's chaos stands where the network does: inside of retry and breaker, outside of the attempt's timeout, once per attempt. Its outcomes are retried and
    /// counted as real ones are, and its latency is bounded by the total.
    /// </summary>
    [Fact]
    public async Task Execute_ChaosInsteadOfTheProvider_RetriedAndSeenByTheBreaker()
    {
        var injected = 0;
        var pipeline = Build(builder => builder.AddChaosOutcome(new ChaosOutcomeStrategyOptions<Attempt>
        {
            InjectionRate = 1,
            EnabledGenerator = _ => ValueTask.FromResult(++injected <= 2),
            OutcomeGenerator = static _ => ValueTask.FromResult<Outcome<Attempt>?>(Outcome.FromResult(Attempt.Failed(SendFault.Refused, "chaos"))),
        }));

        Assert.Equal(Accepted, (await RunAsync(_ => ValueTask.FromResult(Accepted), pipeline)).Result);
        Assert.Equal((3, 1), (injected, _attempts));

        injected = int.MinValue;
        for (var i = 0; i < ProviderPipeline.BreakerMinimumThroughput; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Accepted), pipeline);
        }

        Assert.Equal(CircuitState.Open, _breaker.CircuitState);
        Assert.Equal(1, _attempts);
    }

    [Fact]
    public async Task Execute_ChaosLatency_TotalTimeoutStandsOutside()
    {
        var pipeline = Build(static builder => builder.AddChaosLatency(new ChaosLatencyStrategyOptions { InjectionRate = 1, Latency = TimeSpan.FromMinutes(1) }));

        var outcome = await RunAsync(_ => ValueTask.FromResult(Accepted), pipeline);

        Assert.Equal(TimeSpan.FromSeconds(10), Assert.IsType<TimeoutRejectedException>(outcome.Exception).Timeout);
        Assert.Equal(0, _attempts);
    }

    // Names as the metrics have them: users' alerts hold on to them.
    [Fact]
    public async Task Execute_RetriesAndBreaker_AreInPollysMeterAndGoodAttemptsAreNot()
    {
        var events = new ConcurrentQueue<string>();
        using var listener = new MeterListener();
        listener.InstrumentPublished = static (instrument, listener) =>
        {
            if (instrument is { Meter.Name: "Polly", Name: "resilience.polly.strategy.events" })
            {
                listener.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<int>((_, _, tags, _) =>
        {
            var named = tags.ToArray().ToDictionary(static tag => tag.Key, static tag => tag.Value);
            if (named["pipeline.name"] as string == _name)
            {
                events.Enqueue($"{named["event.name"]} of {named["strategy.name"]}");
            }
        });
        listener.Start();

        await RunAsync(_ => ValueTask.FromResult(Accepted));
        Assert.Empty(events);

        await RunAsync(_ => ValueTask.FromResult(Safe));
        Assert.Equal(["OnRetry of retry", "OnRetry of retry"], events);

        for (var i = 0; i < ProviderPipeline.BreakerMinimumThroughput; i++)
        {
            await RunAsync(_ => ValueTask.FromResult(Outage));
        }

        Assert.Equal("OnCircuitOpened of breaker", events.Last());
    }

    private ResiliencePipeline<Attempt> Build(Action<ResiliencePipelineBuilder<Attempt>>? chaos) => ProviderPipeline.Build(
        _name,
        new ProviderPipelineOptions
        {
            TotalTimeout = TimeSpan.FromSeconds(10),
            AttemptTimeout = TimeSpan.FromSeconds(4),
            IsSafeToRetry = result => result.Reason == "safe",
            IsOutage = result => result.Status == DeliveryStatus.Unavailable,
            Chaos = chaos,
        },
        new RetryBudget(),
        _time,
        _breaker = new CircuitBreakerStateProvider());

    private async Task<Outcome<Attempt>> RunAsync(Func<CancellationToken, ValueTask<Attempt>> attempt, ResiliencePipeline<Attempt>? pipeline = null)
    {
        var context = ResilienceContextPool.Shared.Get();
        var run = (pipeline ?? _pipeline).ExecuteOutcomeAsync(
            async (context, attempt) =>
            {
                _attempts++;
                try
                {
                    return Outcome.FromResult(await attempt(context.CancellationToken));
                }
                catch (Exception exception)
                {
                    return Outcome.FromException<Attempt>(exception);
                }
            },
            context,
            attempt).AsTask();

        // The clock runs on by itself while somebody sleeps on it, in steps smaller than any time tested.
        for (var i = 0; !run.IsCompleted && i < 5000; i++)
        {
            _time.Advance(TimeSpan.FromMilliseconds(50));
            await Task.WhenAny(run, Task.Delay(1));
        }

        return await run.WaitAsync(TimeSpan.FromSeconds(10));
    }
}
