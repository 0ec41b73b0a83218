using System.Text.Json;
using Pnh.LoadTest.Measure;

namespace Pnh.Api.Tests.Bench;

/// <summary>Runs as bench/compare.sh keeps them.</summary>
internal static class Runs
{
    public static BenchResult Clean(string label, double perCpuSecond = 1) => new()
    {
        Profile = "one",
        Peer = "pnh",
        Class = "transient",
        Label = label,
        Events = 10,
        EventsPerCpuSecond = perCpuSecond,
        DeliveriesPerCpuSecond = perCpuSecond,
        Wrong = new Wrong(10, 0, 0, 0, 0, 0),
    };

    /// <summary>The cells of the first row of the comparison, where there is one bar.</summary>
    public static string[] Compare(params BenchResult[] runs)
    {
        var table = Comparison.Of(runs.Select(static run => JsonSerializer.Serialize(run, BenchJson.Default.BenchResult)), "test");
        return [.. table.Split('\n')[6].Trim('|', ' ').Split('|').Select(static cell => cell.Trim())];
    }
}
