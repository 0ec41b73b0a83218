using System.Globalization;
using Pnh.Core.Hubs;

namespace Pnh.Api.Problems;

/// <summary>When a publisher whose event was refused shall come back.</summary>
internal static class RefusalDelay
{
    // One of them, by chance: publishers that were refused together do not come back together. With two the hub was idle and full in turn.
    private static readonly string[] OfOverload = ["1", "2", "3", "4"];

    private static readonly string OfMemory = Hub.MemoryRetrySeconds.ToString(CultureInfo.InvariantCulture);

    /// <summary>Value of Retry-After for this one, in seconds.</summary>
    internal static string Of(StaticProblem refusal) =>
        refusal == StaticProblem.MemoryFull || refusal == StaticProblem.MemoryShare ? OfMemory : OfOverload[Random.Shared.Next(OfOverload.Length)];

    internal static Task WriteAsync(HttpContext context, StaticProblem refusal)
    {
        context.Response.Headers.RetryAfter = Of(refusal);
        return refusal.WriteAsync(context);
    }
}
