using System.Text.Json;
using Pnh.Core.Deliveries;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets;

/// <summary>
/// The open socket as one of the channels. It has no addresses and no accounts: a delivery carries its session
/// (<see cref="Delivery.Session"/>), and a send completes at once.
/// </summary>
public sealed class WebSocketChannel : IPushChannel
{
    /// <summary>The channel's name everywhere.</summary>
    public const string ChannelName = "websocket";

    /// <inheritdoc/>
    public string Name => ChannelName;

    /// <summary>A device has no <c>websocket</c> section: always an error.</summary>
    public void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors)
    {
        ArgumentNullException.ThrowIfNull(errors);
        errors.Add(new FieldError("", "unknown-member", "A socket has no push address: connect to /v1/socket instead."));
    }

    /// <summary>Writes nothing.</summary>
    public void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses)
    {
    }

    /// <summary>Always null.</summary>
    public PushAddress? SelectAddress(Device device, Event accepted) => null;

    /// <summary>Always null.</summary>
    public string? FindAccount(string app, PushAddress address) => null;

    /// <summary>The same sender for every account and class: it holds nothing.</summary>
    public IPushSender Open(string account, EventClass @class) => SessionSender.Instance;

    private sealed class SessionSender : IPushSender
    {
        public static readonly SessionSender Instance = new();

        // Each send completes before it returns, so there is never a second one.
        public int MaxInFlight => 1;

        public ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken)
        {
            if (delivery.Session is not { } session)
            {
                return ValueTask.FromResult(DeliveryResult.Of(DeliveryStatus.NotConnected, "no-session"));
            }

            return ValueTask.FromResult(session.Link.TrySend(session.Key.Session, delivery.Event)
                ? DeliveryResult.Of(DeliveryStatus.Sent)
                : DeliveryResult.Of(DeliveryStatus.NotConnected, "session-gone-or-slow"));
        }

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
