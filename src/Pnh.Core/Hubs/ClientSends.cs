using System.Buffers;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Core.Hubs;

/// <summary>
/// Events that clients publish over their sockets: only in apps that allow it, only <c>transient</c> and <c>message</c>, to a topic of the token or
/// to the user's own devices, and without what makes a phone ring (a notification, overrides). Thread-safe.
/// </summary>
internal sealed class ClientSends(EventAcceptor acceptor, EventReader reader, HubOptions options, TimeProvider time)
{
    private static readonly SendRefusal NotAllowed = new("not-allowed", "The app does not let clients publish.");
    private static readonly SendRefusal NotAllowedTarget = new("not-allowed", "Clients publish to topics of their token and to their own user.");
    private static readonly SendRefusal NotAllowedMember = new("not-allowed", "Clients publish transient and message, with data and without notification, overrides, channels, ack or except.");
    private static readonly SendRefusal Unavailable = new("unavailable", "The event was not taken; send it again.");
    private static readonly SendRefusal Overloaded = new("overloaded", "Too many events; send it again later.");
    private static readonly SendRefusal Conflict = new("id-conflict", "Another event has this id.");

    internal async ValueTask<SendRefusal?> SendAsync(ClientIdentity identity, ReadOnlyMemory<byte> message)
    {
        if (!options.SendingApps.Contains(identity.App))
        {
            return NotAllowed;
        }

        var errors = new List<FieldError>();
        if (Body(message) is not { } body
            || reader.Read(body, new EventOrigin(identity.App, time.GetUtcNow(), time.GetTimestamp()), errors) is not { } accepted)
        {
            return new SendRefusal("bad-event", errors is [var first, ..] ? $"{first.Pointer}: {first.Detail}" : "The event is no JSON object.");
        }

        if (Check(identity, accepted) is { } refusal)
        {
            return refusal;
        }

        return (await acceptor.AcceptAsync(accepted).ConfigureAwait(false)).Status switch
        {
            AcceptStatus.Accepted or AcceptStatus.Duplicate => null,
            AcceptStatus.Conflict => Conflict,
            AcceptStatus.Overloaded or AcceptStatus.MemoryFull => Overloaded,
            _ => Unavailable,
        };
    }

    private static SendRefusal? Check(ClientIdentity identity, Event accepted)
    {
        if (accepted.Class is not (EventClass.Transient or EventClass.Message)
            || accepted is not { Notification: null, Overrides: null or { Count: 0 }, Channels: null, AckWithin: null, Except: null })
        {
            return NotAllowedMember;
        }

        var isAllowed = accepted.To.Topic is { } topic
            ? identity.MayJoin(topic)
            : accepted.To.Users is [var only] && string.Equals(only, identity.User, StringComparison.Ordinal);
        return isAllowed ? null : NotAllowedTarget;
    }

    // The frame without its type is the event.
    private static byte[]? Body(ReadOnlyMemory<byte> message)
    {
        try
        {
            using var frame = JsonDocument.Parse(message, new JsonDocumentOptions { MaxDepth = Limits.JsonDepth });
            var output = new ArrayBufferWriter<byte>(message.Length);
            using (var json = new Utf8JsonWriter(output))
            {
                json.WriteStartObject();
                foreach (var member in frame.RootElement.EnumerateObject())
                {
                    if (!member.NameEquals("type"u8))
                    {
                        member.WriteTo(json);
                    }
                }

                json.WriteEndObject();
            }

            return output.WrittenSpan.ToArray();
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            return null;
        }
    }
}
