using System.Buffers;
using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Channels.WebSockets.Protocol;

/// <summary>Frames of the connection itself: welcome, joined, confirmed, beat, drain, error. Rare, so each is encoded when it is needed. Pure functions.</summary>
internal static class ControlFrames
{
    /// <summary>How often a client that asked for beats, and not how often, hears one: below the minute after which proxies close what stands still.</summary>
    public const int BeatSeconds = 25;

    /// <summary>The words of a hello and a welcome for what its end knows.</summary>
    public static IReadOnlyList<(string Word, Knowledge Known)> Words { get; } =
        [("joined", Knowledge.Joined), ("confirmed", Knowledge.Confirmed), ("taken", Knowledge.Taken), ("beat", Knowledge.Beat), ("missed", Knowledge.Missed)];

    /// <summary>Of an error that a close follows.</summary>
    public const string HelpOfRefusals = "/docs/clients#refused";

    private static readonly JsonWriterOptions WriterOptions = new() { Encoder = PlainJsonEncoder.Shared };

    /// <summary>The answer to hello.</summary>
    /// <param name="session">Id to resume with.</param>
    /// <param name="seq">Highest seq that the client has; 0 on a new session.</param>
    /// <param name="resumed">False = a new stream, counting from 1.</param>
    /// <param name="beat">Every how many seconds a beat comes; 0 = none was asked for.</param>
    /// <param name="knows">What both ends know.</param>
    /// <param name="topics">Those that a resumed session is in, for a client that is answered by topic.</param>
    public static byte[] Welcome(string session, long seq, bool resumed, int beat, Knowledge knows, IReadOnlyList<string> topics) => Write((session, seq, resumed, beat, knows, topics), static (json, s) =>
    {
        json.WriteString("type"u8, "welcome"u8);
        json.WriteString("session"u8, s.session);
        json.WriteNumber("seq"u8, s.seq);
        json.WriteBoolean("resumed"u8, s.resumed);
        if (s.beat > 0)
        {
            json.WriteNumber("beat"u8, s.beat);
        }

        if (s.knows != Knowledge.None)
        {
            WriteTexts(json, "knows", Words.Where(word => s.knows.HasFlag(word.Known)).Select(static word => word.Word));
        }

        if (s.knows.HasFlag(Knowledge.Joined))
        {
            WriteTexts(json, "topics", s.topics);
        }
    });

    /// <summary>What the user did with the event is kept. <paramref name="of"/> is the type of the client's frame.</summary>
    public static byte[] Confirmed(string of, string id) => Write((of, id), static (json, s) =>
    {
        json.WriteString("type"u8, "confirmed"u8);
        json.WriteString("of"u8, s.of);
        json.WriteString("id"u8, s.id);
    });

    /// <summary>What became of a join, topic by topic; a reason stands there only when it was one.</summary>
    public static byte[] Joined(JoinAnswer answer) => Write(answer, static (json, s) =>
    {
        json.WriteString("type"u8, "joined"u8);
        WriteTexts(json, "topics", s.Joined);
        json.WriteStartObject("refused"u8);
        foreach (var (reason, topics) in new[] { ("not-allowed", s.NotAllowed), ("too-many-topics", s.TooMany) })
        {
            if (topics.Count > 0)
            {
                WriteTexts(json, reason, topics);
            }
        }

        json.WriteEndObject();
    });

    /// <summary>The node lives, and so does the way to it.</summary>
    public static byte[] Beat { get; } = Write(0, static (json, _) => json.WriteString("type"u8, "beat"u8));

    /// <summary>The node goes away.</summary>
    /// <param name="after">When to come back (seconds on the wire, in steps of a millisecond).</param>
    /// <param name="resume">True = another node goes on with the session; false = it ends, and nothing is said of it.</param>
    public static byte[] Drain(TimeSpan after, bool resume = false) => Write((after, resume), static (json, s) =>
    {
        json.WriteString("type"u8, "drain"u8);
        json.WriteNumber("after"u8, Math.Round(s.after.TotalSeconds, 3));
        if (s.resume)
        {
            json.WriteBoolean("resume"u8, true);
        }
    });

    /// <summary>A stable kebab-case code and a sentence for a person; repeats nothing that the client sent.</summary>
    /// <param name="code">The code.</param>
    /// <param name="message">The sentence.</param>
    /// <param name="help">Where the hub's own documents speak of it; null = nowhere.</param>
    public static byte[] Error(string code, string message, string? help = null) => Write((code, message, help), static (json, s) =>
    {
        json.WriteString("type"u8, "error"u8);
        json.WriteString("code"u8, s.code);
        json.WriteString("message"u8, s.message);
        if (s.help is not null)
        {
            json.WriteString("help"u8, s.help);
        }
    });

    private static void WriteTexts(Utf8JsonWriter json, string name, IEnumerable<string> texts)
    {
        json.WriteStartArray(name);
        foreach (var text in texts)
        {
            json.WriteStringValue(text);
        }

        json.WriteEndArray();
    }

    private static byte[] Write<TState>(TState state, Action<Utf8JsonWriter, TState> members)
    {
        var buffer = new ArrayBufferWriter<byte>(128);
        using (var json = new Utf8JsonWriter(buffer, WriterOptions))
        {
            json.WriteStartObject();
            members(json, state);
            json.WriteEndObject();
        }

        return buffer.WrittenSpan.ToArray();
    }
}
