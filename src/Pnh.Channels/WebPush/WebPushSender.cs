using System.Globalization;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using Pnh.Channels.Http;
using Pnh.Core.Deliveries;

namespace Pnh.Channels.WebPush;

/// <summary>Sends deliveries over one route. See <see cref="ProviderSender"/> for what it shares; it dials by itself, since only a guarded dial may reach an endpoint.</summary>
internal sealed class WebPushSender : ProviderSender
{
    private const int InFlight = 100;

    private static readonly MediaTypeHeaderValue OctetStream = new("application/octet-stream");

    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        TotalTimeout = TimeSpan.FromSeconds(25),
        AttemptTimeout = TimeSpan.FromSeconds(12),

        // An answer is final here; what never reached the push service is repeated by what the network threw.
        IsSafeToRetry = static _ => false,
        IsOutage = WebPushResponse.IsOutage,
    };

    private readonly WebPushRoute _route;
    private readonly WebPushConnection _connection;

    public WebPushSender(WebPushRoute route, ResolveHost resolve, ProviderServices services)
        : base(route.Name, Limits(route), Pipeline, services)
    {
        _route = route;
        _connection = new WebPushConnection(route, resolve, services.Trust, Connection.Gate);
    }

    public override ValueTask DisposeAsync()
    {
        _connection.Dispose();
        return base.DisposeAsync();
    }

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

        return WebPushPayload.Of(delivery).Refusal is { } refusal ? DeliveryResult.Of(DeliveryStatus.Rejected, refusal) : null;
    }

    protected override async ValueTask<DeliveryResult> AttemptAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var subscription = PushSubscription.Parse(delivery.Address!.Value)!;
        byte[] body;
        try
        {
            body = WebPushEncryption.Encrypt(WebPushPayload.Of(delivery).Bytes, subscription);
        }
        catch (CryptographicException)
        {
            return DeliveryResult.Of(DeliveryStatus.Rejected, "invalid-address");
        }

        using var request = Request(delivery, subscription, body);
        try
        {
            using var response = await _connection.SendAsync(request, cancellationToken);
            using var answer = await BoundedBody.ReadAsync(response, cancellationToken);
            return WebPushResponse.Map(response, answer.Bytes, RetryAfter.Read(response, Time));
        }
        catch (HttpRequestException exception) when (exception.InnerException is EndpointNotPublicException)
        {
            // Says something of this subscription, so it must not count against the push service.
            return DeliveryResult.Of(DeliveryStatus.Rejected, "endpoint-not-public");
        }
        catch (HttpRequestException exception) when (_route.Host.IsPattern && exception.HttpRequestError == HttpRequestError.NameResolutionError)
        {
            // Anybody can make up a name below a suffix; it must not open the breaker for those that exist.
            return new DeliveryResult { Status = DeliveryStatus.Throttled, Reason = "name-resolution-failed", RetryAfter = WebPushResponse.QuotaPause };
        }
    }

    /// <summary>The base class holds the gate and counts by it; its own connection is never opened.</summary>
    private static ProviderConnectionOptions Limits(WebPushRoute route) => new()
    {
        Origin = route.Host.Origin,
        MaxInFlight = InFlight,
        Lifetime = WebPushConnection.Lifetime,
        IdleTimeout = WebPushConnection.IdleTimeout,
        Pings = HttpKeepAlivePingPolicy.WithActiveRequests,
    };

    private HttpRequestMessage Request(Delivery delivery, PushSubscription subscription, byte[] body)
    {
        var content = new ByteArrayContent(body);
        content.Headers.ContentType = OctetStream;
        content.Headers.ContentEncoding.Add("aes128gcm");
        var request = new HttpRequestMessage(HttpMethod.Post, subscription.Endpoint) { Content = content };
        request.Headers.TryAddWithoutValidation("authorization", _route.Credential.For(subscription.Endpoint));
        request.Headers.TryAddWithoutValidation("ttl", WebPushHeaders.Ttl(delivery, Time.GetUtcNow()).ToString(CultureInfo.InvariantCulture));
        request.Headers.TryAddWithoutValidation("urgency", WebPushHeaders.Urgency(delivery));
        if (WebPushHeaders.Topic(delivery) is { } topic)
        {
            request.Headers.TryAddWithoutValidation("topic", topic);
        }

        return request;
    }
}
