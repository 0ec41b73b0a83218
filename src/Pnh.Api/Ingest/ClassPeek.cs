using System.Text.Json;
using Pnh.Core.Events;

namespace Pnh.Api.Ingest;

/// <summary>Finds the class of an event that is not read yet, in 0.2 us of a usual one; of one that is read afterwards the class is the same.</summary>
internal static class ClassPeek
{
    /// <summary>
    /// The class that the event has: the value of the body's own member, however it is escaped, and not a word in its data. Message when there is none or
    /// it cannot be read; such a body is answered 400 when it is let in.
    /// </summary>
    internal static EventClass ClassIn(ReadOnlySpan<byte> body)
    {
        // No member of that name, in plain or in escapes: two vectorised searches instead of a walk, which takes up to 3 us/kB.
        if (body.IndexOf("\"class\""u8) < 0 && body.IndexOf((byte)'\\') < 0)
        {
            return EventClass.Message;
        }

        try
        {
            return FindClass(new Utf8JsonReader(body, new JsonReaderOptions { MaxDepth = Limits.JsonDepth }));
        }
        catch (Exception fault) when (fault is JsonException or InvalidOperationException)
        {
            return EventClass.Message; // the second is thrown for half a surrogate pair
        }
    }

    private static EventClass FindClass(Utf8JsonReader reader)
    {
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            var isClass = reader.ValueTextEquals("class"u8);
            reader.Read();
            if (isClass)
            {
                return ClassOf(reader);
            }

            reader.Skip();
        }

        return EventClass.Message;
    }

    private static EventClass ClassOf(in Utf8JsonReader value)
    {
        if (value.TokenType != JsonTokenType.String)
        {
            return EventClass.Message;
        }

        return value.ValueTextEquals("call"u8) ? EventClass.Call
            : value.ValueTextEquals("bulk"u8) ? EventClass.Bulk
            : value.ValueTextEquals("transient"u8) ? EventClass.Transient
            : EventClass.Message;
    }
}
