using System.Globalization;
using System.Runtime.CompilerServices;
using System.Security.Cryptography;
using Pnh.Channels.Net.Http;
using Pnh.Channels.Provider.Connections;
using Pnh.Channels.Provider.Sender;
using Pnh.Core.Push;
using Polly;

namespace Pnh.Channels.WebPush;

/// <summary>Sends deliveries over one route. See <see cref="ProviderSender"/> for what it shares; it dials by itself, since only a guarded dial may reach an endpoint.</summary>
internal sealed class WebPushSender : ProviderSender
{
    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        TotalTimeout = TimeSpan.FromSeconds(25),
        AttemptTimeout = TimeSpan.FromSeconds(12),

        // An answer is final here; what never reached the push service is repeated by what the network threw.
        IsSafeToRetry = static _ => false,
        IsOutage = WebPushResponse.IsOutage,
    };

    private readonly WebPushRoute _route;

    public WebPushSender(WebPushRoute route, EndpointNetwork network, ProviderServices services)
        : base(route.Name, new ProviderTrunk(new WebPushConnections(route, network, services), Pipeline, services), services) => _route = route;

    protected override DeliveryResult? Refuse(Delivery delivery)
    {
        if (PushSubscription.Parse(delivery.Address!.Value) is not { } subscription)
        {
            return DeliveryResult.Of(DeliveryStatus.Rejected, "invalid-address");
        }

        if (!_route.Host.Covers(subscription.Endpoint))
        {
            // The device subscribed anew, elsewhere, after its lane was chosen.
            return DeliveryResult.Of(DeliveryStatus.Rejected, "endpoint-not-allowed");
        }

        if (!_route.Credential.IsApples && ApplePush.Serves(subscription.Endpoint, _route.AllowLoopback))
        {
            return DeliveryResult.Of(DeliveryStatus.Rejected, VapidSubject.Refused);
        }

        return Plain(delivery, subscription).Refusal is { } refusal ? DeliveryResult.Of(DeliveryStatus.Rejected, refusal)
            : _route.Pace.Take(delivery.Event.Class) is var wait && wait > TimeSpan.Zero ? SiteLimited(wait)
            : null;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    protected override async ValueTask<Outcome<Attempt>> AttemptAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var subscription = PushSubscription.Parse(delivery.Address!.Value)!;
        var plain = Plain(delivery, subscription);
        var attempt = await AttemptAsync(delivery, subscription, plain, cancellationToken);
        if (attempt.Result.Result.Reason == WebPushResponse.TooLarge && delivery.Withdrawal is null && WebPushPayload.OfSmall(delivery) is { Refusal: null } small && small.Bytes.Length < plain.Bytes.Length)
        {
            attempt = await AttemptAsync(delivery, subscription, small, cancellationToken);
        }

        return attempt.Result.Result.Reason switch
        {
            // Says something of this subscription, so it must not count against the push service.
            WebPushConnections.NotPublic => Outcome.FromResult(Attempt.Of(DeliveryResult.Of(DeliveryStatus.Rejected, WebPushConnections.NotPublic))),

            // Anybody can make up a name below a suffix; it must not open the breaker for those that exist.
            WebPushConnections.NameUnknown when _route.Host.IsPattern => Outcome.FromResult(Attempt.Of(
                attempt.Result.Result with { Status = DeliveryStatus.Throttled, RetryAfter = WebPushResponse.QuotaPause })),
            _ => attempt,
        };
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<Outcome<Attempt>> AttemptAsync(Delivery delivery, PushSubscription subscription, WebPushBody plain, CancellationToken cancellationToken)
    {
        SplicedBody body;
        try
        {
            body = SplicedBody.Whole(WebPushEncryption.Encrypt(plain.Bytes, subscription)) with { IsWakeUp = plain.IsWakeUp };
        }
        catch (CryptographicException)
        {
            return Outcome.FromResult(Attempt.Of(DeliveryResult.Of(DeliveryStatus.Rejected, "invalid-address")));
        }

        return await ExchangeAsync(Request(delivery, subscription, body, plain.IsDeclared), delivery, cancellationToken);
    }

    protected override DeliveryResult Read(in ProviderAnswer answer, in ProviderRequest request, Delivery delivery)
    {
        var result = WebPushResponse.Map(answer, RetryAfter.Read(answer.RetryAfter, Time));
        if (result.Status == DeliveryStatus.Accepted)
        {
            _route.Refused.Accepted();
            _route.Pace.Accepted();
        }

        if (result is { Status: DeliveryStatus.Throttled, RetryAfter: { } pause } && _route.Pace.Refused(PushSubscription.EndpointOf(delivery.Address!.Value)!, pause) is { } wait)
        {
            return SiteLimited(wait) with { WasAsked = true };
        }

        return result.Status == DeliveryStatus.Misconfigured && !_route.Refused.MayBeAccounts(PushSubscription.EndpointOf(delivery.Address!.Value)!)
            ? result with { Status = DeliveryStatus.Rejected }
            : result;
    }

    /// <summary>As what is held: one milestone, however often it is asked for.</summary>
    private static DeliveryResult SiteLimited(TimeSpan wait) => new() { Status = DeliveryStatus.Throttled, Reason = SitePace.Reason, RetryAfter = wait, IsHeld = true };

    private WebPushBody Plain(Delivery delivery, PushSubscription subscription) => ApplePush.Serves(subscription.Endpoint, _route.AllowLoopback)
        ? WebPushPayload.OfVisible(delivery, _route.ClearText, SiteOf(subscription))
        : WebPushPayload.Of(delivery, SiteOf(subscription));

    private Uri? SiteOf(PushSubscription subscription) => DeclarativePush.Serves(subscription.Endpoint, _route.AllowLoopback) ? _route.Site : null;

    private ProviderRequest Request(Delivery delivery, PushSubscription subscription, SplicedBody body, bool isDeclared)
    {
        var headers = default(HeaderList);
        var ttl = WebPushHeaders.Ttl(delivery, Time.GetUtcNow());
        var isWindows = WindowsPush.Serves(subscription.Endpoint, _route.AllowLoopback);
        headers.Add(HeaderName.Authorization, _route.Credential.For(subscription.Endpoint));
        headers.Add(HeaderName.ContentType, isDeclared ? DeclarativePush.MediaType : "application/octet-stream");
        headers.Add(HeaderName.ContentEncoding, "aes128gcm");
        headers.Add(HeaderName.Ttl, ttl.ToString(CultureInfo.InvariantCulture));
        headers.Add(HeaderName.Urgency, WebPushHeaders.Urgency(delivery));
        if (WebPushHeaders.Topic(delivery) is { } topic)
        {
            headers.Add(HeaderName.Topic, topic);
        }

        if (isWindows)
        {
            headers.Add(HeaderName.WnsCachePolicy, WindowsPush.CachePolicy(ttl));
        }

        return new ProviderRequest
        {
            Authority = subscription.Endpoint.Authority,
            PathPrefix = subscription.Endpoint.PathAndQuery,
            PathEnd = "",
            Headers = headers,
            Body = body,
            Wanted = WantedHeaders.Location | WantedHeaders.ApnsId | (isWindows ? WantedHeaders.Wns : WantedHeaders.None),
            Progress = new RequestProgress(),
        };
    }
}
