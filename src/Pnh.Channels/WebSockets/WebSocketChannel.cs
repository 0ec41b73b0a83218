using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Push;
using Pnh.Core.Sessions;
using Pnh.Core.Users;

namespace Pnh.Channels.WebSockets;

/// <summary>
/// The open socket as one of the channels: its name in an event's <c>channels</c>, and the refusal of a device's <c>websocket</c> section. It
/// has no addresses, accounts or lanes; frames go from the shard through <see cref="ISessionLink"/>.
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

    /// <summary>Never: no device has an address here, so no push is planned on it. The shard reaches the socket through <see cref="ISessionLink"/>.</summary>
    public IPushSender Open(string account, EventClass @class) =>
        throw new NotSupportedException("A socket has no lane: frames go through the session's link.");
}
