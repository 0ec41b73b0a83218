using System.Globalization;

namespace Pnh.LoadTest.Overload;

/// <summary>What the hub promises under load, held against the phases. Milliseconds.</summary>
internal static class Targets
{
    /// <summary>A line per promise: what it is, what was measured, whether that is enough.</summary>
    public static IEnumerable<string> Judge(IReadOnlyList<Phase> phases)
    {
        foreach (var phase in phases)
        {
            var limit = phase.Name switch { "70 %" => 50, "200 %" => 200, _ => 0 };
            if (limit > 0)
            {
                yield return Line($"call POST to frame p99 at {phase.Name}", phase.Seen.Delivery(Mix.Call).P99, "at most", limit);
                yield return Line($"calls not arrived at {phase.Name}", phase.Faults.Lost[Mix.Call], "at most", 0);
            }

            if (phase.Seen.Refused > 0)
            {
                yield return Line($"refusal p99 at {phase.Name}", phase.Seen.RefusalOnWire().P99, "at most", 10);
                yield return Line($"refusals without Retry-After at {phase.Name}", phase.Seen.WithoutRetryAfter, "at most", 0);
            }

            if (phase.Name.StartsWith("300 %", StringComparison.Ordinal))
            {
                yield return Line($"goodput per CPU second at {phase.Name}, % of the peak before it", 100 * phase.OfPeak, "at least", 90);
            }
        }
    }

    // NaN: nothing arrived, which is never enough.
    private static string Line(string name, double value, string relation, double limit)
    {
        var isMet = relation == "at most" ? value <= limit : value >= limit;
        return string.Create(CultureInfo.InvariantCulture, $"- {(isMet ? "met" : "MISSED")}: {name} {relation} {limit:F0}, measured {value:F1}");
    }
}
