using System.Text.Json;
using Pnh.Core.Devices;
using Pnh.Core.Events;

namespace Pnh.Core.Deliveries;

/// <summary>
/// A way for a delivery to leave: <c>websocket</c>, <c>apns</c>, <c>fcm</c>, …. One folder in Pnh.Channels each; found by name, never by a
/// switch. Thread-safe, one instance per process.
/// </summary>
public interface IPushChannel
{
    /// <summary>Stable, lower-case: the member of a device's JSON, the metric label, an entry of an event's <c>channels</c>.</summary>
    string Name { get; }

    /// <summary>
    /// Reads a device's section (<c>"apns":{…}</c>) into addresses. On a wrong member adds an error with a pointer relative to the section
    /// (<c>/token</c>) and adds no address. Address formats are known here and nowhere else.
    /// </summary>
    void ReadAddresses(JsonElement section, DateTimeOffset now, ICollection<PushAddress> addresses, ICollection<FieldError> errors);

    /// <summary>Writes the members of the section that <see cref="ReadAddresses"/> would read back to <paramref name="addresses"/> (this channel's only).</summary>
    void WriteAddresses(Utf8JsonWriter section, IEnumerable<PushAddress> addresses);

    /// <summary>The address of the device that suits the event (a call takes a VoIP token, …); null when this channel has none for it.</summary>
    PushAddress? SelectAddress(Device device, Event accepted);

    /// <summary>The provider account of the app that serves the address, as a stable name unique within the channel; null = no provider configured.</summary>
    string? FindAccount(string app, PushAddress address);

    /// <summary>Opens the way to an account for one class, with connections of its own, so that classes never wait for each other. Does not connect yet.</summary>
    IPushSender Open(string account, EventClass @class);
}

/// <summary>One lane's way to a provider account. The lane owns it and disposes it.</summary>
public interface IPushSender : IAsyncDisposable
{
    /// <summary>How many sends the lane may have under way at once; at least 1.</summary>
    int MaxInFlight { get; }

    /// <summary>
    /// A slower way beside this one, with connections of its own, for what <see cref="Suspects"/> picks out; null = there is none. Always the same; the
    /// lane disposes it too.
    /// </summary>
    IPushSender? Quarantine => null;

    /// <summary>True when the delivery's address could cost the others: many like it were refused just now. Quick; asked before each attempt.</summary>
    bool Suspects(Delivery delivery) => false;

    /// <summary>
    /// Sends one delivery and maps the provider's answer. Never throws for an answer, a network fault or a timeout: those are results.
    /// Throws <see cref="OperationCanceledException"/> only when <paramref name="cancellationToken"/> is cancelled (shutdown).
    /// </summary>
    ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken);
}
