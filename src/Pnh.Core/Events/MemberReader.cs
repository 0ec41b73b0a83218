using System.Text;

namespace Pnh.Core.Events;

/// <summary>Reads members of an event that are a word or a number.</summary>
internal static class MemberReader
{
    private static readonly TimeSpan LongestAck = TimeSpan.FromHours(1);

    internal static string? ReadEventId(ref JsonCursor cursor)
    {
        var id = cursor.ReadString("/id", 4 * Limits.EventIdCharacters);
        if (id is not null && !Ids.IsEventId(id))
        {
            cursor.Fail("/id", "invalid-id", $"1 to {Limits.EventIdCharacters} characters of A-Z a-z 0-9 . _ : ~ @ -");
            return null;
        }

        return id;
    }

    internal static EventClass ReadClass(ref JsonCursor cursor)
    {
        var name = cursor.ReadString("/class", 32);
        if (name is null)
        {
            return EventClass.Message;
        }

        if (EventClassNames.TryParse(name, out var value))
        {
            return value;
        }

        cursor.Fail("/class", "unknown-value", "One of call, message, bulk, transient.");
        return EventClass.Message;
    }

    internal static string? ReadCollapseKey(ref JsonCursor cursor)
    {
        var key = cursor.ReadString("/collapseKey", Limits.CollapseKeyBytes);
        if (key is { Length: 0 } || (key is not null && Encoding.UTF8.GetByteCount(key) > Limits.CollapseKeyBytes))
        {
            cursor.Fail("/collapseKey", key.Length == 0 ? "too-short" : "too-long", $"1 to {Limits.CollapseKeyBytes} bytes.");
            return null;
        }

        return key;
    }

    internal static TimeSpan? ReadAck(ref JsonCursor cursor)
    {
        TimeSpan? within = null;
        var seen = 0u;
        if (!cursor.EnterObject("/ack"))
        {
            return null;
        }

        while (cursor.NextMember(out var name))
        {
            if (name.SequenceEqual("within"u8))
            {
                cursor.Once(ref seen, 0, "/ack/within");
                within = cursor.ReadSeconds("/ack/within", TimeSpan.Zero, LongestAck);
            }
            else
            {
                cursor.Unknown("/ack", name);
            }
        }

        return within;
    }

    internal static PushPriority ReadPriority(ref JsonCursor cursor)
    {
        if (cursor.ReadString("/priority", 32) is not { } word)
        {
            return PushPriority.ByClass;
        }

        if (PushWords.ParsePriority(word) is { } priority)
        {
            return priority;
        }

        cursor.Fail("/priority", "unknown-value", "One of now, saving; without it the class decides.");
        return PushPriority.ByClass;
    }
}
