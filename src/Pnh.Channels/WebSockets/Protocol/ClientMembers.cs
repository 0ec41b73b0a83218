using System.Text.Json;
using Pnh.Core.Events;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>The members of client frames: each reads the value after the name that the reader stands on, and checks it.</summary>
internal static class ClientMembers
{
    private const int ShortTextCharacters = 64;

    public static ClientFrameType? ReadType(ref Utf8JsonReader json)
    {
        if (json.TokenType != JsonTokenType.String)
        {
            return null;
        }

        return json.ValueTextEquals("ack"u8) ? ClientFrameType.Ack
            : json.ValueTextEquals("state"u8) ? ClientFrameType.State
            : json.ValueTextEquals("hello"u8) ? ClientFrameType.Hello
            : json.ValueTextEquals("answer"u8) ? ClientFrameType.Answer
            : json.ValueTextEquals("seen"u8) ? ClientFrameType.Seen
            : json.ValueTextEquals("join"u8) ? ClientFrameType.Join
            : json.ValueTextEquals("leave"u8) ? ClientFrameType.Leave
            : json.ValueTextEquals("send"u8) ? ClientFrameType.Send
            : json.ValueTextEquals("taken"u8) ? ClientFrameType.Taken
            : json.ValueTextEquals("beat"u8) ? ClientFrameType.Beat
            : null;
    }

    public static FrameProblem? ReadSeq(ref Utf8JsonReader json, string member, out long? seq)
    {
        json.Read();
        seq = json.TokenType == JsonTokenType.Number && json.TryGetInt64(out var value) && value >= 0 ? value : null;
        return seq is null ? FrameProblem.Bad(member, "a whole number, 0 or more") : null;
    }

    /// <summary>True = as often as the hub likes; false = never, which is 0.</summary>
    public static FrameProblem? ReadBeat(ref Utf8JsonReader json, string member, out int seconds)
    {
        json.Read();
        seconds = json.TokenType == JsonTokenType.True ? ControlFrames.BeatSeconds
            : json.TokenType == JsonTokenType.Number && json.TryGetInt32(out var value) && value is >= 5 and <= 60 ? value
            : 0;
        return seconds > 0 || json.TokenType == JsonTokenType.False ? null : FrameProblem.Bad(member, "true, false, or a whole number of seconds from 5 to 60");
    }

    public static FrameProblem? ReadState(ref Utf8JsonReader json, out SessionState? state)
    {
        json.Read();
        state = null;
        if (json.TokenType == JsonTokenType.String)
        {
            state = json.ValueTextEquals("active"u8) ? SessionState.Active
                : json.ValueTextEquals("background"u8) ? SessionState.Background
                : null;
        }

        return state is null ? FrameProblem.Bad("state", "active or background") : null;
    }

    /// <summary>A string of any length that the message allows; null counts as absent.</summary>
    public static FrameProblem? ReadText(ref Utf8JsonReader json, string member, out string? text)
    {
        json.Read();
        text = json.TokenType == JsonTokenType.String ? json.GetString() : null;
        return json.TokenType is JsonTokenType.String or JsonTokenType.Null ? null : FrameProblem.Bad(member, "a string");
    }

    public static FrameProblem? ReadShortText(ref Utf8JsonReader json, string member, out string? text) =>
        ReadText(ref json, member, out text)
        ?? (text is null or { Length: >= 1 and <= ShortTextCharacters } ? null : FrameProblem.Bad(member, "1 to 64 characters long"));

    public static FrameProblem? ReadName(ref Utf8JsonReader json, string member, out string? name) =>
        ReadText(ref json, member, out name)
        ?? (name is null || Ids.IsName(name) ? null : FrameProblem.Bad(member, "1 to 128 printable characters"));

    public static FrameProblem? ReadEventId(ref Utf8JsonReader json, string member, out string? id) =>
        ReadText(ref json, member, out id) ?? (id is null || Ids.IsEventId(id) ? null : FrameProblem.Bad(member, "an event id"));

    /// <summary>Words that this hub does not know are those of a newer client.</summary>
    public static FrameProblem? ReadKnows(ref Utf8JsonReader json, out Knowledge knows)
    {
        knows = Knowledge.None;
        json.Read();
        if (json.TokenType != JsonTokenType.StartArray)
        {
            return FrameProblem.Bad("knows", "an array");
        }

        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            foreach (var (word, known) in ControlFrames.Words)
            {
                knows |= json.TokenType == JsonTokenType.String && json.ValueTextEquals(word) ? known : Knowledge.None;
            }

            json.Skip();
        }

        return null;
    }

    public static FrameProblem? ReadTopics(ref Utf8JsonReader json, out List<string>? topics)
    {
        topics = null;
        json.Read();
        if (json.TokenType != JsonTokenType.StartArray)
        {
            return FrameProblem.Bad("topics", "an array");
        }

        topics = [];
        while (json.Read() && json.TokenType != JsonTokenType.EndArray)
        {
            if (json.TokenType != JsonTokenType.String || json.GetString() is not { } topic || !Ids.IsName(topic))
            {
                return FrameProblem.Bad("topics", "a list of topic names");
            }

            topics.Add(topic);
        }

        return topics.Count is >= 1 and <= Limits.ListEntries ? null : FrameProblem.Bad("topics", "1 to 100 names");
    }
}
