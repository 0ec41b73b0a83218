using System.Runtime.CompilerServices;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Push;
using Polly;

namespace Pnh.Channels.Fcm;

/// <summary>Sends deliveries of one account and class. See <see cref="ProviderSender"/> for what it shares.</summary>
internal sealed class FcmSender : ProviderSender
{
    /// <summary>Google's front ends end a connection with more streams than this (PROTOCOL_ERROR, exceeded_max_concurrent_streams).</summary>
    private const int InFlight = 100;

    /// <summary>FCM's own calls inside take up to 10 s; who gives up earlier sends twice.</summary>
    private static readonly TimeSpan LeastAttempt = TimeSpan.FromSeconds(10);

    /// <summary>That after a connection had to be dialled, which takes up to <see cref="ProviderDial.Timeout"/>.</summary>
    private static readonly TimeSpan AttemptTimeout = TimeSpan.FromSeconds(14);

    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        // Two attempts, should the first find no place at all.
        TotalTimeout = TimeSpan.FromSeconds(30),
        AttemptTimeout = AttemptTimeout,

        // FCM wants at least 10 s before a retry: that is for the hub's schedule. Only what never reached it is repeated here.
        IsSafeToRetry = static _ => false,
        IsOutage = FcmResponse.IsOutage,
    };

    /// <summary>A place in the pace further away than this is for the hub's schedule: it would hold a worker of the lane.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly FcmCredential _credential;
    private readonly FcmPace _pace;
    private readonly DevicePace _devices;
    private readonly FcmCollapseKeys _collapseKeys;
    private readonly string _path;

    public FcmSender(FcmAccount account, AddressStanding standing, ProviderServices services)
        : this(account, ConnectionsTo(account), standing, services) =>
        Quarantine = new FcmSender(account, ConnectionsTo(account).ForQuarantine(), standing, services);

    private FcmSender(FcmAccount account, PoolOptions connections, AddressStanding standing, ProviderServices services)
        : base(account.Name, new ProviderTrunk(new ConnectionPool(connections, services), Pipeline, services), services, standing, account.Credential.Stop)
    {
        _credential = account.Credential;
        _pace = account.Pace;
        _devices = account.Devices;
        _collapseKeys = account.CollapseKeys;
        _path = account.SendAddress.AbsolutePath;
    }

    protected override DeliveryResult? Refuse(Delivery delivery)
    {
        var address = delivery.Address!;
        if (!FcmAddress.IsValid(address.Value))
        {
            // A record older than today's rule; it must not reach the body unescaped.
            return DeliveryResult.Of(DeliveryStatus.Rejected, "invalid-address");
        }

        if (BodyOf(delivery).Refusal is { } refusal)
        {
            return DeliveryResult.Of(DeliveryStatus.Rejected, refusal);
        }

        if (_pace.Pause is var pause && pause > TimeSpan.Zero)
        {
            return Later(DeliveryStatus.Unavailable, FcmResponse.ProjectQuota, pause);
        }

        return _devices.Take(address.Value) is var wait && wait > TimeSpan.Zero ? Later(DeliveryStatus.Throttled, "device-paced", wait) : null;
    }

    /// <summary>The token and the pace, up to 15 s: FCM would have the less of an attempt.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<DeliveryResult?> PrepareAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        if (IsBreakerOpen)
        {
            return null;
        }

        var authorization = await _credential.GetAsync(cancellationToken);
        if (authorization.Header is null)
        {
            return authorization.Failure;
        }

        if (_pace.Take(delivery.Event.Class, LongestWait) is not { } wait)
        {
            return Later(DeliveryStatus.Unavailable, "project-paced", LongestWait);
        }

        if (wait > TimeSpan.Zero)
        {
            await Task.Delay(wait, Time, cancellationToken);
        }

        return null;
    }

    /// <summary>FCM: no retry before 10 s, whatever became of the first; spread.</summary>
    protected override TimeSpan? PauseAfterUnknown() => RetryAfter.Jittered(FcmResponse.OutagePause);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<Outcome<Attempt>> AttemptAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var start = Time.GetTimestamp();
        var authorization = await _credential.GetAsync(cancellationToken);
        if (authorization.Header is not { } header)
        {
            return Outcome.FromResult(Attempt.Of(authorization.Failure));
        }

        var attempt = await ExchangeAsync(Request(delivery, header), delivery, cancellationToken);
        if (attempt.Result.Result.Status == DeliveryStatus.Accepted)
        {
            _credential.Accepted(header);
        }
        else if (attempt.Result.Result.Status == DeliveryStatus.Misconfigured && _credential.TryFallBack(header))
        {
            return Outcome.FromResult(Attempt.Of(Later(DeliveryStatus.Unavailable, "token-replaced", RetryAfter.Jittered(FcmResponse.OutagePause))).After(isAsked: true));
        }

        if (!IsUnauthorized(attempt.Result))
        {
            return attempt;
        }

        var replaced = await _credential.ReplaceAsync(header, cancellationToken);
        if (replaced.Header is not { } other)
        {
            return Outcome.FromResult(Attempt.Of(replaced.Failure).After(isAsked: true));
        }

        if (string.Equals(other, header, StringComparison.Ordinal))
        {
            return Outcome.FromResult(Unauthorized(attempt.Result, other));
        }

        // A token that came late leaves FCM too little of this attempt.
        var second = Time.GetElapsedTime(start) > AttemptTimeout - LeastAttempt
            ? Attempt.Of(Later(DeliveryStatus.Unavailable, "token-replaced", RetryAfter.Jittered(FcmResponse.OutagePause)))
            : Unauthorized((await ExchangeAsync(Request(delivery, other), delivery, cancellationToken)).Result, other);
        return Outcome.FromResult(second.After(isAsked: true));
    }

    protected override DeliveryResult Read(in ProviderAnswer answer, in ProviderRequest request, Delivery delivery)
    {
        if (answer.Status == 200)
        {
            return new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = FcmResponse.ReadName(answer.Body) };
        }

        var result = FcmResponse.Map(answer.Status, answer.Body, RetryAfter.Read(answer.RetryAfter, Time));
        if (result.Reason == FcmResponse.ProjectQuota)
        {
            _pace.Exceeded(result.RetryAfter!.Value);
        }
        else if (result is { Status: DeliveryStatus.Throttled, RetryAfter: { } wait })
        {
            _devices.Hold(delivery.Address!.Value, wait);
        }

        return result;
    }

    /// <summary>Every token of another project's app.</summary>
    protected override bool IsPerhapsOurFault(in DeliveryResult result) => result.Reason == "SENDER_ID_MISMATCH";

    /// <summary>FCM is not asked now.</summary>
    private static DeliveryResult Later(DeliveryStatus status, string reason, TimeSpan wait) =>
        new() { Status = status, Reason = reason, RetryAfter = wait, IsUnasked = true };

    private static PoolOptions ConnectionsTo(FcmAccount account) => new()
    {
        Origin = new Uri(account.SendAddress.GetLeftPart(UriPartial.Authority)),
        MaxConnections = account.Connections,
        MaxInFlight = InFlight,
        Lifetime = TimeSpan.FromHours(1),

        // Below the minutes after which Google ends an idle session itself; idle ones are not pinged (too_many_pings).
        IdleTimeout = TimeSpan.FromMinutes(3),
        StallAfter = TimeSpan.FromSeconds(20),
    };

    /// <summary>A 401 that speaks of the access token, not of a third party's credential.</summary>
    private static bool IsUnauthorized(in Attempt attempt) =>
        attempt is { HttpStatus: 401, Result.Status: DeliveryStatus.Misconfigured or DeliveryStatus.Unavailable };

    /// <summary>A new token that is refused gets ten seconds to become known; only then it is for people to see what is wrong.</summary>
    private Attempt Unauthorized(in Attempt attempt, string header) => IsUnauthorized(attempt) && _credential.IsNew(header)
        ? attempt with { Result = attempt.Result with { Status = DeliveryStatus.Unavailable, RetryAfter = RetryAfter.Jittered(FcmResponse.OutagePause) } }
        : attempt;

    private FcmBody BodyOf(Delivery delivery) =>
        delivery.Withdrawal is { } withdrawal
            ? FcmPush.ClearFor(withdrawal, delivery.Event.Class, delivery.Address!.Kind, Time)
            : FcmPush.BodyFor(delivery.Event, delivery.Address!.Kind, delivery.Device.Locale);

    private ProviderRequest Request(Delivery delivery, string authorization)
    {
        var body = BodyOf(delivery);
        if (body.CollapseKey is { } key && !_collapseKeys.TryTake(delivery.Address!.Value, key, delivery.Event.ExpiresAt - Time.GetUtcNow()))
        {
            body = FcmPush.BodyFor(delivery.Event, delivery.Address.Kind, delivery.Device.Locale, isKeyless: true);
        }

        var headers = default(HeaderList);
        headers.Add(HeaderName.Authorization, authorization);
        headers.Add(HeaderName.ContentType, "application/json");
        return new ProviderRequest
        {
            PathPrefix = _path,
            PathEnd = "",
            Headers = headers,
            Body = body.Parts,
            FirstGap = delivery.Address!.Value,
            SecondGap = FcmPush.TtlFor(delivery.Event, body, Time.GetUtcNow()),
        };
    }
}
