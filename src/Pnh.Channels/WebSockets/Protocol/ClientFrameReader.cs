using System.Buffers.Text;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>
/// Reads client frames in one pass over the bytes. Unknown members are skipped, so that a newer client can talk to an older hub in a rollout;
/// known members are checked wherever they stand. Pure functions; never throws for what a client sent.
/// </summary>
internal static class ClientFrameReader
{
    private static readonly JsonReaderOptions ReaderOptions = new() { MaxDepth = Limits.JsonDepth };

    /// <summary>Null when <paramref name="frame"/> is a frame with all its members; else what is wrong with it.</summary>
    public static FrameProblem? Read(ReadOnlySpan<byte> message, out ClientFrame frame)
    {
        frame = default;
        if (TryReadUsualAck(message, out var seq))
        {
            frame.Type = ClientFrameType.Ack;
            frame.Seq = seq;
            return null;
        }

        try
        {
            var json = new Utf8JsonReader(message, ReaderOptions);
            ClientFrameType? type = null;
            if (!json.Read() || json.TokenType != JsonTokenType.StartObject)
            {
                return FrameProblem.BadJson;
            }

            while (json.Read() && json.TokenType == JsonTokenType.PropertyName)
            {
                if (ReadMember(ref json, ref frame, ref type) is { } problem)
                {
                    return problem;
                }
            }

            _ = json.Read(); // throws on anything after the object
            return type is { } known ? RequireMembers(ref frame, known) : FrameProblem.UnknownType;
        }
        catch (JsonException)
        {
            return FrameProblem.BadJson;
        }
        catch (InvalidOperationException)
        {
            return FrameProblem.BadJson; // a string that is no UTF-8, or with half a surrogate pair
        }
    }

    // One ack per event and device: nearly all that ever arrives, and nearly always written like this. Some 15 ns instead of 250.
    private static bool TryReadUsualAck(ReadOnlySpan<byte> message, out long seq)
    {
        seq = 0;
        var head = """{"type":"ack","seq":"""u8;
        if (!message.StartsWith(head) || message[^1] != (byte)'}')
        {
            return false;
        }

        var digits = message[head.Length..^1];
        return digits.Length > 0 && (digits[0] != (byte)'0' || digits.Length == 1) && digits[0] is >= (byte)'0' and <= (byte)'9'
            && Utf8Parser.TryParse(digits, out seq, out var read) && read == digits.Length;
    }

    private static FrameProblem? ReadMember(ref Utf8JsonReader json, ref ClientFrame frame, ref ClientFrameType? type)
    {
        if (json.ValueTextEquals("type"u8))
        {
            json.Read();
            return (type = ClientMembers.ReadType(ref json)) is null ? FrameProblem.UnknownType : null;
        }

        if (json.ValueTextEquals("seq"u8))
        {
            return ClientMembers.ReadSeq(ref json, "seq", out frame.Seq);
        }

        if (json.ValueTextEquals("state"u8))
        {
            return ClientMembers.ReadState(ref json, out frame.State);
        }

        return ReadRareMember(ref json, ref frame);
    }

    private static FrameProblem? ReadRareMember(ref Utf8JsonReader json, ref ClientFrame frame)
    {
        if (json.ValueTextEquals("token"u8))
        {
            return ClientMembers.ReadText(ref json, "token", out frame.Token);
        }

        if (json.ValueTextEquals("device"u8))
        {
            return ClientMembers.ReadName(ref json, "device", out frame.Device);
        }

        if (json.ValueTextEquals("resume"u8))
        {
            return ReadResume(ref json, ref frame);
        }

        if (json.ValueTextEquals("id"u8))
        {
            return ClientMembers.ReadEventId(ref json, "id", out frame.Id);
        }

        if (json.ValueTextEquals("as"u8))
        {
            return ClientMembers.ReadShortText(ref json, "as", out frame.As);
        }

        if (json.ValueTextEquals("topics"u8))
        {
            return ClientMembers.ReadTopics(ref json, out frame.Topics);
        }

        if (json.ValueTextEquals("beat"u8))
        {
            return ClientMembers.ReadBeat(ref json, "beat", out frame.Beat);
        }

        if (json.ValueTextEquals("every"u8))
        {
            return ClientMembers.ReadBeat(ref json, "every", out frame.Beat);
        }

        if (json.ValueTextEquals("knows"u8))
        {
            return ClientMembers.ReadKnows(ref json, out frame.Knows);
        }

        return ReadValue(ref json, ref frame);
    }

    private static FrameProblem? ReadValue(ref Utf8JsonReader json, ref ClientFrame frame)
    {
        var isTarget = json.ValueTextEquals("to"u8);
        var isData = json.ValueTextEquals("data"u8);
        json.Read();
        if (isTarget && json.TokenType != JsonTokenType.StartObject)
        {
            return FrameProblem.Bad("to", "an object");
        }

        frame.HasTarget |= isTarget;
        frame.HasData |= isData;
        json.Skip();
        return null;
    }

    private static FrameProblem? ReadResume(ref Utf8JsonReader json, ref ClientFrame frame)
    {
        json.Read();
        if (json.TokenType == JsonTokenType.Null)
        {
            return null;
        }

        if (json.TokenType != JsonTokenType.StartObject)
        {
            return FrameProblem.Bad("resume", "an object");
        }

        FrameProblem? problem = null;
        while (problem is null && json.Read() && json.TokenType == JsonTokenType.PropertyName)
        {
            if (json.ValueTextEquals("session"u8))
            {
                problem = ClientMembers.ReadShortText(ref json, "resume.session", out frame.ResumeSession);
            }
            else if (json.ValueTextEquals("seq"u8))
            {
                problem = ClientMembers.ReadSeq(ref json, "resume.seq", out frame.ResumeSeq);
            }
            else
            {
                json.Read();
                json.Skip();
            }
        }

        problem ??= frame.ResumeSession is null ? FrameProblem.Missing("resume.session") : null;
        return problem ?? (frame.ResumeSeq is null ? FrameProblem.Missing("resume.seq") : null);
    }

    private static FrameProblem? RequireMembers(ref ClientFrame frame, ClientFrameType type)
    {
        frame.Type = type;
        var missing = type switch
        {
            ClientFrameType.Hello => frame.Device is null ? "device" : null,
            ClientFrameType.Ack => frame.Seq is null ? "seq" : null,
            ClientFrameType.State => frame.State is null ? "state" : null,
            ClientFrameType.Answer => frame.Id is null ? "id" : frame.As is null ? "as" : null,
            ClientFrameType.Seen or ClientFrameType.Taken => frame.Id is null ? "id" : null,
            ClientFrameType.Beat => frame.Beat == 0 ? "every" : null,
            ClientFrameType.Join or ClientFrameType.Leave => frame.Topics is null ? "topics" : null,
            ClientFrameType.Send => !frame.HasTarget ? "to" : !frame.HasData ? "data" : null,
            _ => throw new ArgumentOutOfRangeException(nameof(type), type, null),
        };
        return missing is null ? null : FrameProblem.Missing(missing);
    }
}
