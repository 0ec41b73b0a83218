using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Users;

namespace Pnh.Core.Push;

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

    /// <summary>An address that an older build kept, in the spelling that <see cref="ReadAddresses"/> gives it today; null = it has it already. The registry asks once an address, when it opens.</summary>
    PushAddress? Respell(PushAddress address) => null;

    /// <summary>
    /// Why no account of the app can ever serve an address that is about to be registered, with a pointer relative to the section; null = one does, or the app has no account of this channel.
    /// </summary>
    FieldError? CheckAddress(string app, PushAddress address) => null;

    /// <summary>
    /// Checks an event's raw override for this channel when it is taken in: adds an error, with a pointer relative to the override (<c>/aps</c>), for each thing that the
    /// provider would surely refuse whatever the rest of the event says. What it might take is left to it. <paramref name="json"/> is an object.
    /// </summary>
    void CheckOverride(ReadOnlyMemory<byte> json, EventClass @class, ICollection<FieldError> errors)
    {
    }

    /// <summary>The address of the device that suits the event (a call takes a VoIP token, …); null when this channel has none for it.</summary>
    PushAddress? SelectAddress(Device device, Event accepted);

    /// <summary>The provider account of the app that serves the address, as a stable name unique within the channel; null = no provider configured.</summary>
    string? FindAccount(string app, PushAddress address);

    /// <summary>
    /// For each account of the configuration an address that no device has: a push to it shows nothing, and the provider's answer says whether it takes the account. Empty = the provider has no
    /// account that could be asked for.
    /// </summary>
    IEnumerable<(string App, PushAddress Address)> MakeUpAddresses() => [];

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
    /// Sends one delivery and maps the provider's answer. A request that is not answered in time may stay under way: <see cref="DeliveryResult.Late"/>. Never throws for an answer, a network fault or a timeout: those are results.
    /// Throws <see cref="OperationCanceledException"/> only when <paramref name="cancellationToken"/> is cancelled (shutdown) and no request was written; one that was is
    /// <see cref="DeliveryResult.IsUnknown"/>, so that the next run knows of it.
    /// </summary>
    ValueTask<DeliveryResult> SendAsync(Delivery delivery, CancellationToken cancellationToken);
}
