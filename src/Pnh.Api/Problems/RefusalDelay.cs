using System.Globalization;
using Pnh.Core.Hubs;

namespace Pnh.Api.Problems;

/// <summary>When a publisher whose event was refused shall come back.</summary>
internal static class RefusalDelay
{
    // Texts of what the hub says: refusals must cost next to nothing.
    private static readonly string[] Seconds = [.. Enumerable.Range(0, 10).Select(static seconds => seconds.ToString(CultureInfo.InvariantCulture))];

    /// <summary>Value of Retry-After for this one, in seconds.</summary>
    internal static string Of(StaticProblem refusal) =>
        Seconds[EventAcceptor.RetrySeconds(refusal == StaticProblem.MemoryFull || refusal == StaticProblem.MemoryShare ? DoorAnswer.MemoryFull : DoorAnswer.Overloaded)];

    internal static Task WriteAsync(HttpContext context, StaticProblem refusal)
    {
        context.Response.Headers.RetryAfter = Of(refusal);
        return refusal.WriteAsync(context);
    }
}
