using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Channels.Links.Protocol;

/// <summary>
/// An event's body as edges read it. They read it as a publisher's, with the reader of their own build, and one of version 3 and before ends the link at a member that it does not know. So what came after it is
/// cut out; all else stays byte for byte. To go with the links that carry frames. Pure.
/// </summary>
internal static class EdgeBody
{
    private static readonly string[] OfEvent = ["priority"];
    private static readonly string[] OfNotification = ["channel", "interruption", "volume", "relevance", "mutable", "link", "titleKey", "titleArgs", "bodyKey", "bodyArgs"];

    /// <summary>The body; made once an event where something has to go.</summary>
    public static ReadOnlyMemory<byte> Of(Event accepted) =>
        accepted.Priority == PushPriority.ByClass && accepted.Notification is not { Manner: not null }
            ? accepted.Body
            : accepted.Encodings.GetOrAdd("link", accepted.Body, static body => Cut(body.ToArray()));

    private static byte[] Cut(byte[] body)
    {
        var kept = new List<byte>(body.Length);
        var reader = new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = Limits.JsonDepth });
        var (isInNotification, from) = (false, 0);
        var wasCut = false;
        while (reader.Read())
        {
            if (reader.TokenType == JsonTokenType.EndObject && reader.CurrentDepth == 1)
            {
                isInNotification = false;
            }

            if (reader.TokenType != JsonTokenType.PropertyName || reader.CurrentDepth > 2 || (reader.CurrentDepth == 2 && !isInNotification))
            {
                continue;
            }

            var name = reader.GetString()!;
            var (start, depth) = ((int)reader.TokenStartIndex, reader.CurrentDepth);
            if (!(depth == 1 ? OfEvent : OfNotification).Contains(name))
            {
                if (depth == 1 && name == "notification")
                {
                    isInNotification = true;
                }
                else
                {
                    reader.Skip();
                }

                continue;
            }

            reader.Skip();
            kept.AddRange(body[from..start]);
            from = (int)reader.BytesConsumed;
            wasCut = true;
            var next = from;
            while (next < body.Length && body[next] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
            {
                next++;
            }

            if (next < body.Length && body[next] == ',')
            {
                from = next + 1;
            }
            else
            {
                TakeComma(kept);
            }
        }

        kept.AddRange(body[from..]);
        return wasCut ? [.. kept] : body;
    }

    // Of the last member: the comma is before it.
    private static void TakeComma(List<byte> kept)
    {
        var end = kept.Count - 1;
        while (end >= 0 && kept[end] is (byte)' ' or (byte)'\t' or (byte)'\r' or (byte)'\n')
        {
            end--;
        }

        if (end >= 0 && kept[end] == ',')
        {
            kept.RemoveRange(end, kept.Count - end);
        }
    }
}
