using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Credentials;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Users;
using Polly;

namespace Pnh.Channels.Apns;

/// <summary>Sends deliveries of one account and class. See <see cref="ProviderSender"/> for what it shares.</summary>
internal sealed class ApnsSender : ProviderSender
{
    /// <summary>
    /// Below what APNs grants a proven connection (about 1000): with an answer in 50 ms these are 2,000 a second, past which more connections, on more of
    /// Apple's servers, are worth more than more streams.
    /// </summary>
    private const int InFlight = 100;

    private const string Path = "/3/device/";

    /// <summary>Apple names no time for TooManyRequests. The hub's first wait for a throttled delivery is about as long.</summary>
    private static readonly TimeSpan ThrottledPause = TimeSpan.FromSeconds(2);

    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        TotalTimeout = TimeSpan.FromSeconds(10),
        AttemptTimeout = TimeSpan.FromSeconds(5),
        IsSafeToRetry = ApnsResponse.IsSafeToRetry,
        IsOutage = ApnsResponse.IsOutage,
    };

    private readonly ApnsIdentity _identity;
    private readonly DevicePace _devices;
    private readonly ActivityTimes _activities;
    private readonly ConfigurationStop _topicStop;
    private readonly ConfigurationStop _environmentStop;
    private readonly WantedHeaders _wanted;
    private readonly string _topic;
    private readonly string _voipTopic;
    private readonly string _liveActivityTopic;

    public ApnsSender(ApnsAccount account, EventClass @class, TrunkTable<ApnsTrunkKey> trunks, AddressStanding standing, ProviderServices services)
        : this(account, Trunk(account, @class, isQuarantine: false, trunks, services), standing, services) =>
        Quarantine = new ApnsSender(account, Trunk(account, @class, isQuarantine: true, trunks, services), standing, services);

    private ApnsSender(ApnsAccount account, ProviderTrunk trunk, AddressStanding standing, ProviderServices services)
        : base(account.Name, trunk, services, standing, account.Identity.Stop, account.Identity.StopIn(account.Environment), account.TopicStop)
    {
        _identity = account.Identity;
        _devices = account.Devices;
        _activities = account.Activities;
        _topicStop = account.TopicStop;
        _environmentStop = account.Identity.StopIn(account.Environment);
        _wanted = account.Environment == ApnsAccounts.Sandbox ? WantedHeaders.ApnsUniqueId : WantedHeaders.None;
        _topic = account.Topic;
        _voipTopic = account.Topic + ApnsPushType.Voip.TopicSuffix;
        _liveActivityTopic = account.Topic + ApnsPushType.LiveActivity.TopicSuffix;
    }

    protected override DeliveryResult? Refuse(Delivery delivery)
    {
        if (delivery.Withdrawal is not null)
        {
            return ApnsClear.AddressOf(delivery) is null ? DeliveryResult.Of(DeliveryStatus.Rejected, ApnsClear.NotClearable) : null;
        }

        if (delivery.Address!.Kind == ApnsAddress.LiveActivityToken)
        {
            _activities.Stamp(delivery.Event);
        }

        if (ApnsPush.For(delivery.Event, delivery.Address!.Kind).BodyFor(delivery.Event, delivery.Device.Locale).Refusal is { } refusal)
        {
            return DeliveryResult.Of(DeliveryStatus.Rejected, refusal);
        }

        return _devices.Take(delivery.Address!.Value) is var wait && wait > TimeSpan.Zero
            ? new DeliveryResult { Status = DeliveryStatus.Throttled, Reason = ApnsResponse.TooManyRequests, RetryAfter = wait, IsUnasked = true }
            : null;
    }

    protected override ValueTask<Outcome<Attempt>> AttemptAsync(Delivery delivery, CancellationToken cancellationToken) =>
        ExchangeAsync(Request(delivery), delivery, cancellationToken);

    /// <summary>The development environment's apns-unique-id, after ours, finds the push in Apple's console.</summary>
    protected override DeliveryResult Read(in ProviderAnswer answer, in ProviderRequest request, Delivery delivery)
    {
        if (answer.Status == 200 && request.Headers.Find(HeaderName.Authorization) is { } authorization)
        {
            _identity.Accepted(authorization);
        }

        var id = request.Headers.Find(HeaderName.ApnsId);
        return Read(answer, delivery) with { ProviderId = answer is { Status: 200, ApnsUniqueId: { } unique } ? $"{id} {unique}" : id };
    }

    /// <summary>The key may have been changed while the request waited for its place, and a new connection is bound to the first that it sees.</summary>
    protected override void Refresh(ref ProviderRequest request)
    {
        if (_identity.Authorization is { } current && !ReferenceEquals(current, request.Headers.Find(HeaderName.Authorization)))
        {
            request = request with { Headers = request.Headers.With(HeaderName.Authorization, current) };
        }
    }

    /// <summary>
    /// An expired token is replaced, unless it is too young for that. A key that is refused after it was changed gives way to the one before. New tokens are counted by connection, so too many
    /// of them are tried on the next one as they are.
    /// </summary>
    protected override bool TryCorrect(ref ProviderRequest request, in DeliveryResult result)
    {
        if (result.Reason == ApnsResponse.TooManyProviderTokenUpdates)
        {
            return true;
        }

        if (result.Status != DeliveryStatus.Misconfigured || request.Headers.Find(HeaderName.Authorization) is not { } refused)
        {
            return false;
        }

        var renewed = result.Reason == ApnsResponse.ExpiredProviderToken ? _identity.Replace(refused) : _identity.TryFallBack(refused) ? _identity.Authorization : null;
        if (renewed is null)
        {
            return false;
        }

        request = request with { Headers = request.Headers.With(HeaderName.Authorization, renewed) };
        return true;
    }

    private DeliveryResult Read(in ProviderAnswer answer, Delivery delivery)
    {
        if (answer.Status == 200)
        {
            return DeliveryResult.Of(DeliveryStatus.Accepted);
        }

        var result = ApnsResponse.Map(answer.Status, answer.Body.Span, RetryAfter.Read(answer.RetryAfter, Time));

        if (result.Status == DeliveryStatus.Throttled)
        {
            // That device alone, whatever else is on its way to it.
            _devices.Hold(AddressOf(delivery).Value, result.RetryAfter ?? ThrottledPause);
        }

        // Only the address that was used may die, and the delivery's was not: the app's token stood in for a VoIP token.
        return result.Status == DeliveryStatus.AddressDead && !ReferenceEquals(AddressOf(delivery), delivery.Address)
            ? result with { Status = DeliveryStatus.Rejected, DeadSince = null }
            : result;
    }

    /// <summary>
    /// A connection that has seen an expired token keeps refusing, whatever token comes next (Pushy learned it the hard way), and one that has seen too many
    /// tokens refuses for 20 minutes. A token that is too young to be replaced is refused by our clock's fault, which no new connection cures. Every other
    /// refusal of key or topic is bound to the connection: Apple reads both on its first push, and what is put right afterwards helps new connections only.
    /// </summary>
    protected override bool SpoilsConnection(in ProviderRequest request, in DeliveryResult result) => result.Reason switch
    {
        ApnsResponse.ExpiredProviderToken =>
            request.Headers.Find(HeaderName.Authorization) is { } refused && _identity.Replace(refused) is not null,
        ApnsResponse.TooManyProviderTokenUpdates or ApnsResponse.Shutdown or ApnsResponse.IdleTimeout => true,
        _ => result.Status == DeliveryStatus.Misconfigured,
    };

    /// <summary>410 is no error to Apple, and does not slow a connection; the 400s about tokens do.</summary>
    protected override bool IsHeldAgainstUs(in DeliveryResult result) => result.Reason is "BadDeviceToken" or "DeviceTokenNotForTopic";

    /// <summary>Tokens of the other environment or of another app look like that too.</summary>
    protected override bool IsPerhapsOurFault(in DeliveryResult result) => IsHeldAgainstUs(result);

    protected override ConfigurationStop StopFor(in DeliveryResult refusal) =>
        ApnsResponse.IsOfTopic(refusal) ? _topicStop : ApnsResponse.IsOfEnvironment(refusal) ? _environmentStop : _identity.Stop;

    /// <summary>
    /// Of one key a connection takes all topics (Apple binds it to the key's team), so an app's accounts that differ in nothing but the topic share theirs.
    /// Other apps do not: one tenant's bad addresses must not cut another's connections.
    /// </summary>
    private static ProviderTrunk Trunk(
        ApnsAccount account, EventClass @class, bool isQuarantine, TrunkTable<ApnsTrunkKey> trunks, ProviderServices services) =>
        trunks.Take(
            new ApnsTrunkKey(account.App, account.Identity, account.Environment, account.BaseAddress, account.Connections, @class, isQuarantine),
            (key, isLast) =>
            {
                var pool = new ConnectionPool(key.IsQuarantine ? ConnectionsTo(key).ForQuarantine() : ConnectionsTo(key), services);
                key.Identity.Changed += pool.RetireAll;
                return new ProviderTrunk(pool, Pipeline, services)
                {
                    Release = trunk =>
                    {
                        if (!isLast(trunk))
                        {
                            return false;
                        }

                        key.Identity.Changed -= pool.RetireAll;
                        return true;
                    },
                };
            });

    private static PoolOptions ConnectionsTo(ApnsTrunkKey account) => new()
    {
        Origin = account.BaseAddress,
        MaxConnections = account.Connections,
        MaxInFlight = InFlight,
        StartsCold = true,
        Lifetime = TimeSpan.FromHours(6),
        IdleTimeout = TimeSpan.FromHours(6),
        StallAfter = TimeSpan.FromSeconds(8),
        PingsWhenIdle = true,
        Certificate = () => account.Identity.Certificate,
    };

    private static PushAddress AddressOf(Delivery delivery) => delivery.Withdrawal is null ? delivery.Address! : ApnsClear.AddressOf(delivery)!;

    private ProviderRequest Request(Delivery delivery)
    {
        var address = AddressOf(delivery);
        var push = delivery.Withdrawal is { } withdrawal ? ApnsClear.For(withdrawal, Time) : ApnsPush.For(delivery.Event, address.Kind);
        var headers = default(HeaderList);
        if (_identity.Authorization is { } authorization)
        {
            headers.Add(HeaderName.Authorization, authorization);
        }

        headers.Add(HeaderName.ApnsId, ApnsId.Of(delivery));
        headers.Add(HeaderName.ApnsPushType, push.Type.Name);
        headers.Add(HeaderName.ApnsTopic, TopicFor(push.Type));
        headers.Add(HeaderName.ApnsPriority, push.Priority);
        if (push.Expiration.Header is { } expiration)
        {
            headers.Add(HeaderName.ApnsExpiration, expiration);
        }

        if (push.CollapseId is { } collapseId)
        {
            headers.Add(HeaderName.ApnsCollapseId, collapseId);
        }

        return new ProviderRequest
        {
            PathPrefix = Path,
            PathEnd = address.Value,
            Headers = headers,
            Wanted = _wanted,
            Body = push.BodyFor(delivery.Event, delivery.Device.Locale).Parts,
        };
    }

    private string TopicFor(ApnsPushType type) =>
        ReferenceEquals(type, ApnsPushType.Voip) ? _voipTopic
        : ReferenceEquals(type, ApnsPushType.LiveActivity) ? _liveActivityTopic
        : _topic;
}

/// <summary>What two senders have in common when they share connections.</summary>
internal readonly record struct ApnsTrunkKey(
    string App, ApnsIdentity Identity, string Environment, Uri BaseAddress, int Connections, EventClass Class, bool IsQuarantine);
