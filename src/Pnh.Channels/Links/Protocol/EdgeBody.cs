using System.Buffers;
using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// An event for an edge up to version 4, which reads it as a publisher's, with the reader of its own build, and ends the link at a member that it does not know. So the body has only the members that edges of the first version
/// know, and of them only the ones that reach a client. It goes when the hub speaks version 5 alone. Pure.
/// </summary>
internal static class EdgeBody
{
    // A client is told the topic; for whom else an event is stays at the hub.
    private const string SomeUser = "-";

    private static readonly JsonWriterOptions Options = new() { Encoder = PlainJsonEncoder.Shared, SkipValidation = true };

    /// <summary>JSON, made once an event.</summary>
    public static byte[] Of(Event accepted) => accepted.Encodings.GetOrAdd("edge-body", accepted, static e => Make(e));

    private static byte[] Make(Event accepted)
    {
        var body = new ArrayBufferWriter<byte>(128 + accepted.Data.Length);
        using (var json = new Utf8JsonWriter(body, Options))
        {
            json.WriteStartObject();
            json.WriteString("class"u8, accepted.Class.Label());
            json.WriteStartObject("to"u8);
            json.WriteString(accepted.To.Topic is null ? "user"u8 : "topic"u8, accepted.To.Topic ?? SomeUser);
            json.WriteEndObject();
            if (accepted.CollapseKey is { } key)
            {
                json.WriteString("collapseKey"u8, key);
            }

            ClientEvent.WriteContent(json, accepted, withManner: false);
            json.WriteEndObject();
        }

        return body.WrittenSpan.ToArray();
    }
}
