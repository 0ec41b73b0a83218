using System.Net;
using Pnh.Channels.Http;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;

namespace Pnh.Channels.Apns;

/// <summary>Sends deliveries of one account over one connection. See <see cref="ProviderSender"/> for what it shares.</summary>
internal sealed class ApnsSender : ProviderSender
{
    /// <summary>
    /// Below what APNs grants a proven connection (about 1000), and equal to what SocketsHttpHandler assumes before SETTINGS, so that a
    /// stream is always to be had and the connection stays under the handler's keep-alive pings.
    /// </summary>
    private const int InFlight = 100;

    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        TotalTimeout = TimeSpan.FromSeconds(10),
        AttemptTimeout = TimeSpan.FromSeconds(5),
        IsSafeToRetry = ApnsResponse.IsSafeToRetry,
        IsOutage = ApnsResponse.IsOutage,
    };

    private readonly ApnsCredential _credential;
    private readonly string _path;
    private readonly string _topic;
    private readonly string _voipTopic;
    private readonly string _liveActivityTopic;

    public ApnsSender(ApnsAccount account, ProviderServices services)
        : base(account.Name, ConnectionTo(account.BaseAddress), Pipeline, services)
    {
        _credential = account.Credential;
        _path = new Uri(account.BaseAddress, "/3/device/").AbsoluteUri;
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

        var refusal = ApnsPush.For(delivery.Event, delivery.Address!.Kind).BodyFor(delivery.Event, delivery.Device.Locale).Refusal;
        return refusal is null ? null : DeliveryResult.Of(DeliveryStatus.Rejected, refusal);
    }

    protected override async ValueTask<DeliveryResult> AttemptAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var id = ApnsId.Of(delivery);
        var connection = Connection.Current;
        var authorization = _credential.Authorization;
        var result = await ExchangeAsync(delivery, id, authorization, cancellationToken);
        if (result.Reason != ApnsResponse.ExpiredProviderToken || _credential.Replace(authorization) is not { } renewed)
        {
            return result;
        }

        // A connection that has seen an expired token keeps refusing (Pushy learned it the hard way): take a new one along with the new token.
        Connection.Recycle(connection);
        return await ExchangeAsync(delivery, id, renewed, cancellationToken);
    }

    private static ProviderConnectionOptions ConnectionTo(Uri origin) => new()
    {
        Origin = origin,
        MaxInFlight = InFlight,
        StartsCold = true,
        Lifetime = TimeSpan.FromHours(6),
        IdleTimeout = TimeSpan.FromHours(6),
        Pings = HttpKeepAlivePingPolicy.Always,
    };

    private async ValueTask<DeliveryResult> ExchangeAsync(
        Delivery delivery, string id, string authorization, CancellationToken cancellationToken)
    {
        var address = delivery.Withdrawal is null ? delivery.Address! : ApnsClear.AddressOf(delivery)!;
        using var request = CreateRequest(delivery, address, id, authorization);
        using var response = await Connection.SendAsync(request, cancellationToken);
        if (response.StatusCode == HttpStatusCode.OK)
        {
            return new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = id };
        }

        using var body = await BoundedBody.ReadAsync(response, cancellationToken);
        var result = ApnsResponse.Map((int)response.StatusCode, body.Bytes.Span, RetryAfter.Read(response, Time), id);

        // Only the address that was used may die, and the delivery's was not: the app's token stood in for a VoIP token.
        return result.Status == DeliveryStatus.AddressDead && !ReferenceEquals(address, delivery.Address)
            ? result with { Status = DeliveryStatus.Rejected, DeadSince = null }
            : result;
    }

    private HttpRequestMessage CreateRequest(Delivery delivery, PushAddress address, string id, string authorization)
    {
        var push = delivery.Withdrawal is { } withdrawal ? ApnsClear.For(withdrawal, Time) : ApnsPush.For(delivery.Event, address.Kind);
        var request = new HttpRequestMessage(HttpMethod.Post, new Uri(_path + address.Value))
        {
            Content = new ReadOnlyMemoryContent(push.BodyFor(delivery.Event, delivery.Device.Locale).Bytes),
        };
        var headers = request.Headers;
        headers.TryAddWithoutValidation("authorization", authorization);
        headers.TryAddWithoutValidation("apns-id", id);
        headers.TryAddWithoutValidation("apns-push-type", push.Type.Name);
        headers.TryAddWithoutValidation("apns-topic", TopicFor(push.Type));
        headers.TryAddWithoutValidation("apns-priority", push.Priority);
        if (push.Expiration.Header is { } expiration)
        {
            headers.TryAddWithoutValidation("apns-expiration", expiration);
        }

        if (push.CollapseId is { } collapseId)
        {
            headers.TryAddWithoutValidation("apns-collapse-id", collapseId);
        }

        return request;
    }

    private string TopicFor(ApnsPushType type) =>
        ReferenceEquals(type, ApnsPushType.Voip) ? _voipTopic
        : ReferenceEquals(type, ApnsPushType.LiveActivity) ? _liveActivityTopic
        : _topic;
}
