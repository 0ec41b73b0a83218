using Pnh.Api.Problems;
using Pnh.Core.Events;
using Pnh.Core.Shards;

namespace Pnh.Api.Endpoints;

/// <summary>
/// Refuses an event of an overloaded hub before it is parsed: what is refused must cost next to nothing, or refusing becomes the load. Its class is
/// guessed from its bytes; a wrong guess only takes the next class's chance of being refused.
/// </summary>
internal static class EarlyRefusal
{
    // One of them, by chance: those who were refused together do not come back together. With two the hub was idle and full in turn.
    private static readonly string[] RetryAfterSeconds = ["1", "2", "3", "4"];

    /// <summary>True when the event shall be refused now; <paramref name="sender"/> is a number of the connection, <paramref name="class"/> the guess.</summary>
    internal static bool Sheds(LoadShedder shedder, ReadOnlySpan<byte> body, int sender, out EventClass @class)
    {
        @class = EventClass.Message;
        if (!shedder.IsWatchful)
        {
            return false;
        }

        @class = Guess(body);
        if (!shedder.Sheds(@class, sender))
        {
            return false;
        }

        shedder.Count();
        return true;
    }

    /// <summary>Value of Retry-After for this one.</summary>
    internal static string RetryAfter() => RetryAfterSeconds[Random.Shared.Next(RetryAfterSeconds.Length)];

    internal static Task WriteAsync(HttpContext context)
    {
        context.Response.Headers.RetryAfter = RetryAfter();
        return StaticProblem.TooManyRequests.WriteAsync(context);
    }

    // The word as a value of its own; an event that only quotes it in its data counts as more urgent, never as less.
    private static EventClass Guess(ReadOnlySpan<byte> body)
    {
        if (body.IndexOf("\"call\""u8) >= 0)
        {
            return EventClass.Call;
        }

        if (body.IndexOf("\"transient\""u8) >= 0)
        {
            return EventClass.Transient;
        }

        return body.IndexOf("\"bulk\""u8) >= 0 ? EventClass.Bulk : EventClass.Message;
    }
}
