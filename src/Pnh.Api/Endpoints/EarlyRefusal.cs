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
    private const string RetryAfterSeconds = "1";

    // Ten refusals a second of one connection: 64 stubborn ones cost 2 % of a core. Half of what a call may take on an overloaded hub, since one
    // may follow on the same connection.
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(100);

    /// <summary>True when the event shall be refused now; <paramref name="class"/> is the guess.</summary>
    internal static bool Sheds(LoadShedder shedder, ReadOnlySpan<byte> body, out EventClass @class)
    {
        @class = EventClass.Message;
        if (!shedder.IsShedding)
        {
            return false;
        }

        @class = Guess(body);
        if (!shedder.Sheds(@class))
        {
            return false;
        }

        shedder.Count();
        return true;
    }

    /// <summary>
    /// Answers at once, then lets the connection's next request wait. Who obeys Retry-After does not notice; who does not would make refusing the
    /// load: a refusal costs a third of what an accepted event does.
    /// </summary>
    internal static async Task WriteAsync(HttpContext context, TimeProvider time)
    {
        context.Response.Headers.RetryAfter = RetryAfterSeconds;
        await StaticProblem.TooManyRequests.WriteAsync(context);
        await context.Response.CompleteAsync();
        try
        {
            await Task.Delay(Pause, time, context.RequestAborted);
        }
        catch (OperationCanceledException)
        {
            // The client went: nobody waits.
        }
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
