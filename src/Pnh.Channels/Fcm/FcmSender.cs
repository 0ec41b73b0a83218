using System.Net;
using Pnh.Channels.Http;
using Pnh.Channels.Http.Wire;
using Pnh.Core.Deliveries;

namespace Pnh.Channels.Fcm;

/// <summary>Sends deliveries of one account over one connection. See <see cref="ProviderSender"/> for what it shares.</summary>
internal sealed class FcmSender : ProviderSender
{
    /// <summary>Google's front ends end a connection with more streams than this (PROTOCOL_ERROR, exceeded_max_concurrent_streams).</summary>
    private const int InFlight = 100;

    private static readonly ProviderPipelineOptions Pipeline = new()
    {
        // FCM's own calls inside take up to 10 s; who gives up earlier sends twice.
        TotalTimeout = TimeSpan.FromSeconds(25),
        AttemptTimeout = TimeSpan.FromSeconds(12),

        // FCM wants at least 10 s before a retry: that is for the hub's schedule. Only what never reached it is repeated here.
        IsSafeToRetry = static _ => false,
        IsOutage = FcmResponse.IsOutage,
    };

    private readonly FcmCredential _credential;
    private readonly Uri _sendAddress;

    public FcmSender(FcmAccount account, ProviderServices services)
        : base(account.Name, ConnectionTo(account.SendAddress), Pipeline, services)
    {
        _credential = account.Credential;
        _sendAddress = account.SendAddress;
    }

    protected override DeliveryResult? Refuse(Delivery delivery)
    {
        var address = delivery.Address!;
        if (!FcmAddress.IsValid(address.Value))
        {
            // A record older than today's rule; it must not reach the body unescaped.
            return DeliveryResult.Of(DeliveryStatus.Rejected, "invalid-address");
        }

        var refusal = BodyOf(delivery).Refusal;
        return refusal is null ? null : DeliveryResult.Of(DeliveryStatus.Rejected, refusal);
    }

    protected override async ValueTask<DeliveryResult> AttemptAsync(Delivery delivery, CancellationToken cancellationToken)
    {
        var authorization = await _credential.GetAsync(cancellationToken);
        if (authorization.Header is not { } header)
        {
            return authorization.Failure;
        }

        var (result, unauthorized) = await ExchangeAsync(delivery, header, cancellationToken);
        if (!unauthorized)
        {
            return result;
        }

        var replaced = await _credential.ReplaceAsync(header, cancellationToken);
        if (replaced.Header is not { } other)
        {
            return replaced.Failure;
        }

        return string.Equals(other, header, StringComparison.Ordinal)
            ? result
            : (await ExchangeAsync(delivery, other, cancellationToken)).Result;
    }

    private static ProviderConnectionOptions ConnectionTo(Uri sendAddress) => new()
    {
        Origin = sendAddress,
        MaxInFlight = InFlight,
        Lifetime = TimeSpan.FromHours(1),

        // Below the minutes after which Google ends an idle session itself; idle ones are not pinged (too_many_pings).
        IdleTimeout = TimeSpan.FromMinutes(3),
        Pings = HttpKeepAlivePingPolicy.WithActiveRequests,
    };

    private FcmBody BodyOf(Delivery delivery) =>
        delivery.Withdrawal is { } withdrawal
            ? FcmPush.ClearFor(withdrawal, delivery.Event.Class, delivery.Address!.Kind, Time)
            : FcmPush.BodyFor(delivery.Event, delivery.Address!.Kind, delivery.Device.Locale);

    /// <summary>Unauthorized: a 401 that speaks of the access token, not of a third party's credential.</summary>
    private async ValueTask<(DeliveryResult Result, bool Unauthorized)> ExchangeAsync(
        Delivery delivery, string authorization, CancellationToken cancellationToken)
    {
        var body = BodyOf(delivery);
        using var request = new HttpRequestMessage(HttpMethod.Post, _sendAddress)
        {
            Content = new SplicedContent(body.Parts, delivery.Address!.Value, FcmPush.TtlFor(delivery.Event, body, Time.GetUtcNow())),
        };
        request.Headers.TryAddWithoutValidation("authorization", authorization);
        using var response = await Connection.SendAsync(request, cancellationToken);
        using var answer = await BoundedBody.ReadAsync(response, cancellationToken);
        if (response.StatusCode == HttpStatusCode.OK)
        {
            return (new DeliveryResult { Status = DeliveryStatus.Accepted, ProviderId = FcmResponse.ReadName(answer.Bytes) }, false);
        }

        var result = FcmResponse.Map((int)response.StatusCode, answer.Bytes, RetryAfter.Read(response, Time));
        return (result, response.StatusCode == HttpStatusCode.Unauthorized && result.Status is DeliveryStatus.Misconfigured or DeliveryStatus.Unavailable);
    }
}
