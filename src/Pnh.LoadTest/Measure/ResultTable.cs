using System.Globalization;
using System.Text;

namespace Pnh.LoadTest.Measure;

/// <summary>A result to read.</summary>
internal static class ResultTable
{
    public static string Of(BenchResult result)
    {
        var text = new StringBuilder();
        void Line(string name, FormattableString value) => text.Append(CultureInfo.InvariantCulture, $"{name,-28} ").AppendLine(value.ToString(CultureInfo.InvariantCulture));
        Line("profile", $"{result.Profile} against {result.Peer}, {result.Class}, {result.Size} bytes");
        Line("sessions, publishers", $"{result.Sessions}, {result.Publishers}; {result.Dropped} sessions dropped");
        Line("measured", $"{result.Seconds:F1} s; CPU of the server {result.ServerCpu:F2} s, of this tool {result.GeneratorCpu:F2} s");
        Line("events", $"{result.Events} accepted ({result.EventsPerSecond:F0}/s), {result.Refused} refused, {result.Broken} broken");
        Line("deliveries", $"{result.Deliveries}");
        Line("per CPU second", $"{result.EventsPerCpuSecond:F0} events, {result.DeliveriesPerCpuSecond:F0} deliveries, Q {result.Q:F0}");
        Line("CPU", $"{result.CpuMicrosecondsPerEvent:F2} µs per event, {result.CpuMicrosecondsPerDelivery:F2} µs per delivery");
        foreach (var (name, times) in new[] { ("due to arrival, ms", result.Latency), ("due to answer, ms", result.Answer), ("the tool was late, ms", result.Lateness) })
        {
            if (times is not null)
            {
                Line(name, $"mean {times.Mean:F2}, p50 {times.P50:F2}, p90 {times.P90:F2}, p99 {times.P99:F2}, p99.9 {times.P999:F2}, max {times.Max:F1}");
            }
        }

        if (result.Wrong is { } wrong)
        {
            Line("wrong", $"of {wrong.Expected}: {wrong.Lost} lost, {wrong.Duplicate} duplicate, {wrong.Reordered} reordered, {wrong.Misrouted} misrouted, {wrong.Unwanted} unwanted, {wrong.Mismatched} mismatched, {wrong.Late} late");
        }

        foreach (var (name, value) in result.Extra)
        {
            Line(name, $"{value:G6}");
        }

        return text.ToString().TrimEnd();
    }
}
