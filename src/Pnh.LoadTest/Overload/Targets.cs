using System.Globalization;

namespace Pnh.LoadTest.Overload;

/// <summary>What the hub promises under load, held against the phases. Milliseconds. What a refusal costs is promised to publishers that obey Retry-After.</summary>
internal static class Targets
{
    /// <summary>Three times what the hub can take, from publishers that wait as long as it says.</summary>
    public const string Obeyed = "300 %, Retry-After obeyed";

    /// <summary>A line per promise: what it is, what was measured, whether that is enough. Of a phase that was measured several times, the median counts.</summary>
    public static IEnumerable<string> Judge(IReadOnlyList<Phase> phases)
    {
        foreach (var phase in phases)
        {
            var limit = phase.Name switch { "70 %" => 50, "200 %" => 200, _ => 0 };
            if (limit > 0)
            {
                yield return Line($"call POST to frame p99 at {phase.Name}", [phase.Seen.Delivery(Mix.Call).P99], "at most", limit);
                yield return Line($"calls not arrived at {phase.Name}", [phase.Faults.Lost[Mix.Call]], "at most", 0);
            }

            if (phase.Seen.Refused > 0 && phase.Name != Obeyed)
            {
                yield return Line($"refusals without Retry-After at {phase.Name}", [phase.Seen.WithoutRetryAfter], "at most", 0);
            }
        }

        var obeyed = phases.Where(static phase => phase.Name == Obeyed).ToList();
        if (obeyed.Count > 0)
        {
            yield return Line($"refusals without Retry-After at {Obeyed}", [obeyed.Sum(static phase => phase.Seen.WithoutRetryAfter)], "at most", 0);
            if (obeyed.FindAll(static phase => phase.Seen.Refused > 0) is { Count: > 0 } refused)
            {
                yield return Line($"refusal p99 at {Obeyed}", refused.Select(static phase => phase.Seen.RefusalOnWire().P99), "at most", 10);
            }

            yield return Line($"goodput per CPU second at {Obeyed}, % of the peak before it", obeyed.Select(static phase => 100 * phase.OfPeak), "at least", 90);
        }
    }

    // NaN: nothing arrived, which is never enough.
    private static string Line(string name, IEnumerable<double> values, string relation, double limit)
    {
        double[] sorted = [.. values.Order()];
        var value = (sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2;
        var isMet = relation == "at most" ? value <= limit : value >= limit;
        var spread = sorted.Length == 1 ? "" : string.Create(CultureInfo.InvariantCulture, $", the median of {sorted.Length} from {sorted[0]:F1} to {sorted[^1]:F1}");
        return string.Create(CultureInfo.InvariantCulture, $"- {(isMet ? "met" : "MISSED")}: {name} {relation} {limit:F0}, measured {value:F1}{spread}");
    }
}
