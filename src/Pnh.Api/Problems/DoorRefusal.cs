using System.Globalization;
using Pnh.Core.Hubs;

namespace Pnh.Api.Problems;

/// <summary>What a publisher reads whose event the door refused, and when it shall come back.</summary>
internal static class DoorRefusal
{
    // Texts of what the hub says: refusals must cost next to nothing.
    private static readonly string[] Seconds = [.. Enumerable.Range(0, 10).Select(static seconds => seconds.ToString(CultureInfo.InvariantCulture))];

    /// <summary>The problem of this answer, which is no <see cref="DoorAnswer.Taken"/>.</summary>
    internal static StaticProblem Of(DoorAnswer refusal) => refusal switch
    {
        DoorAnswer.MemoryFull => StaticProblem.MemoryFull,
        DoorAnswer.ShareUsedUp => StaticProblem.MemoryShare,
        _ => StaticProblem.TooManyRequests,
    };

    /// <summary>Value of Retry-After for it, in seconds.</summary>
    internal static string RetryAfter(DoorAnswer refusal) => Seconds[EventAcceptor.RetrySeconds(refusal)];

    internal static Task WriteAsync(HttpContext context, DoorAnswer refusal)
    {
        context.Response.Headers.RetryAfter = RetryAfter(refusal);
        return Of(refusal).WriteAsync(context);
    }
}
