using System.Globalization;
using System.Text;

namespace Pnh.LoadTest.Overload;

/// <summary>The phases as two tables.</summary>
internal static class OverloadReport
{
    public static string Write(LoadOptions options, Facts facts, IReadOnlyList<Phase> phases)
    {
        var text = new StringBuilder();
        text.AppendLine("# The hub below, at and above its capacity").AppendLine();
        Line(text, $"{options.Title}");
        Line(text, $"{options.Users} users with {options.Devices} session{(options.Devices == 1 ? "" : "s")} each, which acknowledge; {options.Connections} keep-alive connections, 10 % call, 60 % message, 30 % bulk, every event to one random user, {options.Padding} bytes of filling.");
        Line(text, $"Open loop, Poisson; every latency counts from when the event was due (clock steps of 1 ms). {options.PhaseSeconds:F0} s measured per phase after {options.WarmSeconds:F0} s. The peak: what the hub's one core accepted per CPU second from 64 publishers just before the phase. Shares are of the capacity: the most of an open loop of which nothing was refused, in tenths of the peak. Sessions closed by the hub: {facts.Closed}.");
        Line(text, $"One write of 4 kB and its fsync on the hub's disk, without the hub: p50 {Ms(facts.SyncBefore.Median)} ms, p99 {Ms(facts.SyncBefore.P99)} ms before; p50 {Ms(facts.SyncAfter.Median)} ms, p99 {Ms(facts.SyncAfter.P99)} ms after.");
        text.AppendLine();
        text.AppendLine("| phase | offered/s | accepted/s | refused | held back | given up | no answer | call POST to frame p50 / p99 / max, ms | calls taken, not arrived | call 202 p50 / p99, ms | message POST to frame p99, ms | bulk p99, ms |");
        text.AppendLine("|---|---|---|---|---|---|---|---|---|---|---|---|");
        foreach (var phase in phases)
        {
            var seen = phase.Seen;
            var call = seen.Delivery(Mix.Call);
            Line(
                text,
                $"| {phase.Name} | {seen.Scheduled / phase.Seconds:F0} | {seen.Accepted / phase.Seconds:F0} | {Share(seen.Refused, seen.Scheduled)} | {Share(seen.HeldBack, seen.Scheduled)} | {Share(seen.GivenUp, seen.Scheduled)} | {seen.Other} | {Ms(call.Median)} / {Ms(call.P99)} / {Ms(call.Max)} | {phase.Faults.Lost[Mix.Call]} | {Ms(seen.Acceptance(Mix.Call).Median)} / {Ms(seen.Acceptance(Mix.Call).P99)} | {Ms(seen.Delivery(1).P99)} | {Ms(seen.Delivery(2).P99)} |");
        }

        text.AppendLine();
        text.AppendLine("| phase | refused call / message / bulk | refusal p50 / p99 from sending, ms | p99 from due, ms | without Retry-After | hub CPU | generator CPU | accepted per hub CPU second | peak before it | of that | waited for a connection, most | generator late p99, ms |");
        text.AppendLine("|---|---|---|---|---|---|---|---|---|---|---|---|");
        foreach (var phase in phases)
        {
            var seen = phase.Seen;
            var refused = string.Join(" / ", Enumerable.Range(0, Mix.Classes.Length).Select(seen.RefusedOf));
            Line(
                text,
                $"| {phase.Name} | {refused} | {Ms(seen.RefusalOnWire().Median)} / {Ms(seen.RefusalOnWire().P99)} | {Ms(seen.Refusal().P99)} | {seen.WithoutRetryAfter} | {100 * phase.Cpu / phase.Seconds:F0} % | {100 * phase.GeneratorCpu / phase.Seconds:F0} % | {phase.Goodput:F0} | {OfPeak(phase)} | {phase.MostWaiting} | {Ms(seen.Lateness().P99)} |");
        }

        text.AppendLine();
        text.AppendLine("| phase | lost, call / message / bulk | duplicate | misrouted | refused and arrived | neither taken nor refused |");
        text.AppendLine("|---|---|---|---|---|---|");
        foreach (var (name, faults) in phases.Select(static phase => (phase.Name, phase.Faults)).Append(("all, the warming and the peaks too", facts.Faults)))
        {
            Line(text, $"| {name} | {PhaseFaults.Text(faults.Lost)} | {PhaseFaults.Text(faults.Duplicate)} | {PhaseFaults.Text(faults.Misrouted)} | {PhaseFaults.Text(faults.Unwanted)} | {PhaseFaults.Text(faults.Broken)} |");
        }

        text.AppendLine();
        foreach (var line in Targets.Judge(phases))
        {
            text.AppendLine(line);
        }

        text.AppendLine();
        text.AppendLine("\"No answer\": broken connections and other statuses. \"Given up\": no connection was idle within 1 s of when it was due. A generator near 100 %, or late by more than a few ms, is the limit itself. \"Held back\": not sent because a refusal's Retry-After of the same publisher and class had not passed.");
        return text.ToString();
    }

    /// <summary>What is no phase's.</summary>
    /// <param name="SyncBefore">The disk before the phases.</param>
    /// <param name="SyncAfter">And after them.</param>
    /// <param name="Closed">Sessions that the hub closed.</param>
    /// <param name="Faults">Of the whole run.</param>
    internal readonly record struct Facts(Quantiles SyncBefore, Quantiles SyncAfter, int Closed, PhaseFaults Faults);

    private static void Line(StringBuilder text, FormattableString line) => text.AppendLine(line.ToString(CultureInfo.InvariantCulture));

    private static string OfPeak(Phase phase) =>
        phase.Peak > 0 ? FormattableString.Invariant($"{phase.Peak:F0} | {100 * phase.OfPeak:F0} %") : "– | –";

    private static string Ms(double value) => double.IsNaN(value) ? "–" : value.ToString(value < 10 ? "F1" : "F0", CultureInfo.InvariantCulture);

    private static string Share(long part, long whole) =>
        whole == 0 ? "–" : (100.0 * part / whole).ToString("F1", CultureInfo.InvariantCulture) + " %";
}
