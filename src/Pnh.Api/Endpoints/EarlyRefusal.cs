using System.Globalization;
using System.Text.Json;
using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Api.Endpoints;

/// <summary>
/// Refuses an event of an overloaded hub before it is parsed: what is refused must cost next to nothing, or refusing becomes the load. Only its class is
/// looked for, which takes 0.2 us of a usual event; of one that is read afterwards the class is the same.
/// </summary>
internal static class EarlyRefusal
{
    // One of them, by chance: those who were refused together do not come back together. With two the hub was idle and full in turn.
    private static readonly string[] RetryAfterSeconds = ["1", "2", "3", "4"];

    private static readonly string OfMemory = Hub.MemoryRetrySeconds.ToString(CultureInfo.InvariantCulture);

    /// <summary>
    /// Why the event shall be refused now; null = it shall not. <paramref name="sender"/> is a number of the connection, <paramref name="class"/> the event's.
    /// </summary>
    internal static StaticProblem? Find(Hub hub, string app, ReadOnlySpan<byte> body, int sender, out EventClass @class)
    {
        @class = EventClass.Message;
        if (!hub.MayRefuse)
        {
            return null;
        }

        @class = ClassIn(body);
        if (hub.IsShortOfMemory(@class))
        {
            return StaticProblem.MemoryFull;
        }

        if (!hub.Sheds(app, @class, sender))
        {
            return null;
        }

        hub.Shedder.Count();
        return StaticProblem.TooManyRequests;
    }

    /// <summary>Value of Retry-After for this one.</summary>
    internal static string RetryAfter(StaticProblem refusal) => ReferenceEquals(refusal, StaticProblem.MemoryFull)
        ? OfMemory
        : RetryAfterSeconds[Random.Shared.Next(RetryAfterSeconds.Length)];

    internal static Task WriteAsync(HttpContext context, StaticProblem refusal)
    {
        context.Response.Headers.RetryAfter = RetryAfter(refusal);
        return refusal.WriteAsync(context);
    }

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
