using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using Microsoft.Extensions.Logging;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Core.Diagnostics;
using Pnh.Core.Push;
using Polly;
using Polly.CircuitBreaker;
using Polly.Timeout;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// A lane's way to a provider: checks expiry, runs attempts through the pipeline, each over a connection of its source, and turns every fault into a
/// result. A provider derives one that knows how to make a request and read an answer. Thread-safe.
/// </summary>
internal abstract partial class ProviderSender : IPushSender
{
    private readonly ProviderTrunk _trunk;
    private readonly IConnectionSource _connections;
    private readonly AddressStanding? _standing;
    private readonly ConfigurationStop[] _stops;
    private readonly AnswerWaits _waits = new();
    private readonly ProviderGauges _gauges;
    private readonly ILogger _logger;
    private readonly string _account;
    private bool _misconfigured;
    private bool _isDisposed;

    /// <param name="account">Its name, for logs.</param>
    /// <param name="trunk">Disposed of with the sender.</param>
    /// <param name="services">Of the process.</param>
    /// <param name="standing">What is known of the account's addresses; null = bad ones cost nobody anything.</param>
    /// <param name="stops">What a refusal of our configuration holds back, the credential first; none = a refused delivery fails.</param>
    protected ProviderSender(
        string account, ProviderTrunk trunk, ProviderServices services, AddressStanding? standing = null, params ConfigurationStop[] stops)
    {
        _account = account;
        _trunk = trunk;
        _standing = standing;
        _stops = stops;
        _connections = trunk.Connections;
        _logger = new PacedLog(services.Loggers.CreateLogger(GetType()), services.Time);
        Time = services.Time;
        _gauges = services.Gauges;
    }

    public int MaxInFlight => _connections.MaxInFlight;

    public IPushSender? Quarantine { get; protected init; }

    protected TimeProvider Time { get; }

    /// <summary>No request goes to the provider for now, so nothing needs to wait for one.</summary>
    protected bool IsBreakerOpen => _trunk.Breaker == CircuitState.Open;

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        if (IsOver(delivery))
        {
            return DeliveryResult.Of(DeliveryStatus.Expired);
        }

        if ((Refuse(delivery) ?? Held(delivery)) is { } refusal)
        {
            return refusal;
        }

        if (await PrepareAsync(delivery, cancellationToken) is { } failure)
        {
            return Conclude(failure);
        }

        _trunk.Budget.Earn();
        var context = ResilienceContextPool.Shared.Get(continueOnCapturedContext: false, cancellationToken);
        try
        {
            var outcome = await _trunk.Pipeline.ExecuteOutcomeAsync(
                static (context, state) => state.Delivery.IsSettled
                    ? ValueTask.FromResult(Outcome.FromResult(Attempt.Of(DeliveryResult.Of(DeliveryStatus.Expired))))
                    : state.Sender.AttemptAsync(state.Delivery, context.CancellationToken),
                context,
                (Sender: this, Delivery: delivery));
            var result = outcome.Exception is { } exception ? ToResult(exception, cancellationToken) : outcome.Result.Result;
            if (result.IsUnasked && context.Properties.GetValue(ProviderPipeline.WasAsked, false))
            {
                result = result with { WasAsked = true };
            }

            if (outcome.Result.Late is { } late)
            {
                var reading = ReadLateAsync(late, delivery, cancellationToken);
                return cancellationToken.IsCancellationRequested ? await reading : result with { RetryAfter = PauseAfterUnknown(), Late = reading };
            }

            if (outcome.Result.Fault != SendFault.None)
            {
                // Who waits for a place takes a cancellation as "no place": shutting down is not the provider's fault.
                cancellationToken.ThrowIfCancellationRequested();
            }

            return Conclude(IsUnknown(outcome) && result.RetryAfter is null ? result with { RetryAfter = PauseAfterUnknown() } : result);
        }
        finally
        {
            ResilienceContextPool.Shared.Return(context);
        }
    }

    public bool Suspects(Delivery delivery) => Quarantine is not null && _standing!.Suspects(delivery.Address!.Value);

    /// <summary>A second call does nothing: others may still use what it shared.</summary>
    public ValueTask DisposeAsync() => Interlocked.Exchange(ref _isDisposed, true) ? ValueTask.CompletedTask : _trunk.DisposeAsync();

    /// <summary>What can be said without asking the provider (payload too large, …); null = send it.</summary>
    protected abstract DeliveryResult? Refuse(Delivery delivery);

    /// <summary>What may take its time before the first attempt and must not use up the attempt's own; not null = the delivery's result.</summary>
    protected virtual ValueTask<DeliveryResult?> PrepareAsync(Delivery delivery, CancellationToken cancellationToken) => default;

    /// <summary>The least wait after a request that may have been carried out; null = the hub's own schedule.</summary>
    protected virtual TimeSpan? PauseAfterUnknown() => null;

    /// <summary>One attempt: a credential, a request of its own, <see cref="ExchangeAsync"/>. What it throws becomes the outcome too.</summary>
    protected abstract ValueTask<Outcome<Attempt>> AttemptAsync(Delivery delivery, CancellationToken cancellationToken);

    /// <summary>What an answer means for the delivery.</summary>
    protected abstract DeliveryResult Read(in ProviderAnswer answer, in ProviderRequest request, Delivery delivery);

    /// <summary>Called with a place taken, just before the request goes: what must be no older than its connection is brought up to date.</summary>
    protected virtual void Refresh(ref ProviderRequest request)
    {
    }

    /// <summary>True when the request was corrected by what its answer says of our credential, and shall be sent once more at once.</summary>
    protected virtual bool TryCorrect(ref ProviderRequest request, in DeliveryResult result) => false;

    /// <summary>True for an answer after which its connection is of no more use: no further request goes over it.</summary>
    protected virtual bool SpoilsConnection(in ProviderRequest request, in DeliveryResult result) => false;

    /// <summary>True for a dead address that the provider holds against us.</summary>
    protected virtual bool IsHeldAgainstUs(in DeliveryResult result) => true;

    /// <summary>True for a dead address by a word that a wrong account (its topic, environment, project) gets for good addresses too.</summary>
    protected virtual bool IsPerhapsOurFault(in DeliveryResult result) => false;

    /// <summary>Which of the stops a refusal of our configuration concerns.</summary>
    protected virtual ConfigurationStop StopFor(in DeliveryResult refusal) => _stops[0];

    /// <summary>Sends the request over one of the connections and reads the answer.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected async ValueTask<Outcome<Attempt>> ExchangeAsync(ProviderRequest request, Delivery delivery, CancellationToken cancellationToken)
    {
        for (var isFirst = true; ; isFirst = false)
        {
            var place = await _connections.EnterAsync(cancellationToken);
            if (place.Connection is null)
            {
                return Outcome.FromResult(Attempt.Failed(SendFault.NotSent, place.Fault!).After(isAsked: !isFirst));
            }

            if (IsOver(delivery))
            {
                _connections.Return(place);
                return Outcome.FromResult(Attempt.Of(DeliveryResult.Of(DeliveryStatus.Expired)));
            }

            if (HeldBack(delivery) is { } held)
            {
                _connections.Return(place);
                return Outcome.FromResult(Attempt.Of(held).After(isAsked: !isFirst));
            }

            var (answered, proven, isLate) = (false, false, false);
            var wait = _waits.Rent();
            try
            {
                if (_gauges.Clock.IsDue())
                {
                    request = request with { Wanted = request.Wanted | WantedHeaders.Date };
                }

                Refresh(ref request);
                isLate = !await wait.SendAsync(place.Connection, request, cancellationToken);
                if (isLate && WhyUnsent(request, place) is not null && await TakeBackAsync(wait, request, place) is { } reason)
                {
                    isLate = false;
                    return Outcome.FromResult(Attempt.Failed(SendFault.NotSent, reason).After(isAsked: !isFirst));
                }

                if (isLate)
                {
                    return Outcome.FromResult(Attempt.Unanswered(new LateRequest(wait, request, place)));
                }

                using var answer = wait.Take();
                answered = answer.Fault == SendFault.None;
                _gauges.Clock.Note(answer.Date);
                var attempt = answered ? Judge(answer, request, delivery, place) : Attempt.Failed(answer.Fault, answer.FaultReason!);
                proven = answered && IsProof(attempt.Result.Status);
                if (!answered || !isFirst || !TryCorrect(ref request, attempt.Result))
                {
                    return Outcome.FromResult(attempt);
                }
            }
            finally
            {
                if (!isLate)
                {
                    _waits.Return(wait);
                    _connections.Exit(place, answered, proven);
                }
            }
        }
    }

    /// <summary>What keeps a request from leaving; null = it has left, as far as anybody knows.</summary>
    private string? WhyUnsent(in ProviderRequest request, in ConnectionPlace place) =>
        !_connections.HasSettings(place) ? ConnectionPlace.NoSettings : request.Progress is { HasBegun: false } ? ConnectionPlace.Busy : null;

    /// <summary>
    /// Ends a request that waits for a connection below us, or for the peer's first word. Null = it left meanwhile: it is as late as one that left before.
    /// </summary>
    private async ValueTask<string?> TakeBackAsync(AnswerWait wait, ProviderRequest request, ConnectionPlace place)
    {
        await wait.StopAsync();
        if (WhyUnsent(request, place) is not { } reason)
        {
            return null;
        }

        try
        {
            wait.Take().Dispose();
        }
        catch (OperationCanceledException)
        {
            // As was wanted.
        }

        return reason;
    }

    private static DeliveryResult ToResult(Exception exception, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        if (ProviderPipeline.ToResult(exception) is { } result)
        {
            return result;
        }

        ExceptionDispatchInfo.Throw(exception);
        throw exception;
    }

    /// <summary>
    /// What was acknowledged or taken back while it waited here (for a dial, a token, the pace, a retry: up to half a minute) would be shown after the push that
    /// clears it. Its end is booked, so the result counts nothing.
    /// </summary>
    private bool IsOver(Delivery delivery) => delivery.IsSettled || delivery.IsTooLate(Time);

    /// <summary>The request was sent, and nobody knows what became of it.</summary>
    private static bool IsUnknown(in Outcome<Attempt> outcome) =>
        outcome.Exception is TimeoutRejectedException || outcome.Result.Fault == SendFault.Ambiguous;
}
