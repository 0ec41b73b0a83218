using System.Runtime.ExceptionServices;
using Microsoft.Extensions.Logging;
using Pnh.Core.Deliveries;
using Polly;
using Polly.CircuitBreaker;

namespace Pnh.Channels.Http;

/// <summary>What every provider's sender needs from the process.</summary>
internal sealed record ProviderServices(ProviderTrust Trust, ProviderGauges Gauges, TimeProvider Time, ILoggerFactory Loggers);

/// <summary>
/// A lane's way to a provider over one connection: checks expiry, waits at the gate, runs attempts through the pipeline and turns every
/// fault into a result. A provider derives one that knows how to make a request and read an answer. Thread-safe.
/// </summary>
internal abstract partial class ProviderSender : IPushSender
{
    private readonly ResiliencePipeline<DeliveryResult> _pipeline;
    private readonly CircuitBreakerStateProvider _breaker = new();
    private readonly TimeSpan _totalTimeout;
    private readonly ILogger _logger;
    private readonly string _account;
    private bool _misconfigured;

    protected ProviderSender(
        string account, ProviderConnectionOptions connection, ProviderPipelineOptions pipeline, ProviderServices services)
    {
        _account = account;
        _totalTimeout = pipeline.TotalTimeout;
        _pipeline = ProviderPipeline.Build(pipeline, services.Time, _breaker);
        _logger = services.Loggers.CreateLogger(GetType());
        MaxInFlight = connection.MaxInFlight;
        Connection = new ProviderConnection(connection, services.Trust, services.Gauges);
        Time = services.Time;
    }

    public int MaxInFlight { get; }

    /// <summary>Whether the lane is closed to requests for now, because the provider failed too often.</summary>
    public CircuitState Breaker => _breaker.CircuitState;

    protected ProviderConnection Connection { get; }

    protected TimeProvider Time { get; }

    public async ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        if (IsExpired(delivery))
        {
            return DeliveryResult.Of(DeliveryStatus.Expired);
        }

        if (Refuse(delivery) is { } refusal)
        {
            return refusal;
        }

        try
        {
            await Connection.Gate.EnterAsync(_totalTimeout, Time, cancellationToken);
        }
        catch (TimeoutException)
        {
            return DeliveryResult.Of(DeliveryStatus.Unavailable, "connection-busy");
        }

        var proven = false;
        try
        {
            var result = IsExpired(delivery) ? DeliveryResult.Of(DeliveryStatus.Expired) : await RunAsync(delivery, cancellationToken);
            proven = IsProof(result.Status);
            Note(result);
            return result;
        }
        finally
        {
            Connection.Gate.Exit(proven);
        }
    }

    public virtual ValueTask DisposeAsync()
    {
        Connection.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>What can be said without asking the provider (payload too large, …); null = send it.</summary>
    protected abstract DeliveryResult? Refuse(Delivery delivery);

    /// <summary>One request and its answer. Throws what the network throws; a new request every time.</summary>
    protected abstract ValueTask<DeliveryResult> AttemptAsync(Delivery delivery, CancellationToken cancellationToken);

    private async ValueTask<DeliveryResult> RunAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var context = ResilienceContextPool.Shared.Get(continueOnCapturedContext: false, cancellationToken);
        try
        {
            var outcome = await _pipeline.ExecuteOutcomeAsync(
                static async (context, state) =>
                {
                    try
                    {
                        return Outcome.FromResult(await state.Sender.AttemptAsync(state.Delivery, context.CancellationToken));
                    }
                    catch (Exception exception)
                    {
                        return Outcome.FromException<DeliveryResult>(exception);
                    }
                },
                context,
                (Sender: this, Delivery: delivery));
            return outcome.Exception is { } exception ? ToResult(exception, cancellationToken) : outcome.Result;
        }
        finally
        {
            ResilienceContextPool.Shared.Return(context);
        }
    }

    private static DeliveryResult ToResult(Exception exception, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (NetworkFault.ToResult(exception) is { } result)
        {
            return result;
        }

        ExceptionDispatchInfo.Throw(exception);
        throw exception;
    }

    /// <summary>A TTL of 0 means now or never: it never waited, so it is not expired here. What clears an event is sent after the event's end too.</summary>
    private bool IsExpired(Delivery delivery)
    {
        var accepted = delivery.Event;
        return delivery.Withdrawal is null && accepted.ExpiresAt > accepted.AcceptedAt && accepted.ExpiresAt <= Time.GetUtcNow();
    }

    /// <summary>The provider judged the message, so it had accepted the credential.</summary>
    private static bool IsProof(DeliveryStatus status) =>
        status is DeliveryStatus.Accepted or DeliveryStatus.AddressDead or DeliveryStatus.Rejected or DeliveryStatus.Throttled;

    /// <summary>One line when an account stops working and one when it works again; each delivery of it would be a flood.</summary>
    private void Note(in DeliveryResult result)
    {
        var misconfigured = result.Status == DeliveryStatus.Misconfigured;
        if (misconfigured == _misconfigured || (!misconfigured && result.Status != DeliveryStatus.Accepted))
        {
            return;
        }

        _misconfigured = misconfigured;
        if (misconfigured)
        {
            Log.Misconfigured(_logger, _account, result.Reason);
        }
        else
        {
            Log.Accepted(_logger, _account);
        }
    }
}
