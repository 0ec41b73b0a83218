using System.Diagnostics;
using System.Globalization;
using System.Text;
using Pnh.Core.Sessions;

namespace Pnh.Benchmarks;

/// <summary>What the end of a session costs, by how many topics there are: it must be a flat line.</summary>
internal static class Disconnect
{
    private const int Sessions = 20_000;
    private const int Own = 3;

    public static int Run(string report)
    {
        var text = new StringBuilder();
        text.AppendLine("# Disconnects");
        text.AppendLine();
        text.AppendLine(CultureInfo.InvariantCulture,
            $"Written by `bench/Pnh.Benchmarks disconnect FILE`. {Sessions:N0} sessions, each in {Own} of the topics, close one after the other; the topics have others in them. Medians of 5 rounds.");
        text.AppendLine("A line that rises with the number of topics would be a bug; what it does rise by is the processor's cache.");
        text.AppendLine();
        text.AppendLine("| topics | us per disconnect | us per join of 3 topics |");
        text.AppendLine("|---|---|---|");
        foreach (var topics in (int[])[1_000, 10_000, 50_000, 200_000])
        {
            var joins = new List<double>();
            var closes = new List<double>();
            for (var round = 0; round < 6; round++)
            {
                using var hub = new BenchHub().Open(topics, static i => string.Create(CultureInfo.InvariantCulture, $"room-{i}"));
                var (join, close) = Once(hub, topics);
                if (round > 0)
                {
                    joins.Add(join);
                    closes.Add(close);
                }
            }

            joins.Sort();
            closes.Sort();
            text.AppendLine(CultureInfo.InvariantCulture, $"| {topics:N0} | {closes[2]:N2} | {joins[2]:N2} |");
        }

        File.WriteAllText(report, text.ToString());
        Console.WriteLine(text);
        return 0;
    }

    private static (double Join, double Close) Once(BenchHub hub, int topics)
    {
        var random = new Random(7);
        var keys = new SessionKey[Sessions];
        var joined = new string[Sessions][];
        for (var i = 0; i < Sessions; i++)
        {
            keys[i] = new SessionKey(BenchHub.App, string.Create(CultureInfo.InvariantCulture, $"leaver-{i}"), "tab-1", Guid.NewGuid().ToString("N"));
            joined[i] = [.. Enumerable.Range(0, Own).Select(_ => string.Create(CultureInfo.InvariantCulture, $"room-{random.Next(topics)}"))];
            hub.Open(keys[i], new NullLink());
        }

        var started = Stopwatch.GetTimestamp();
        for (var i = 0; i < Sessions; i++)
        {
            hub.Hub.Joined(keys[i], joined[i]);
        }

        var join = Stopwatch.GetElapsedTime(started).TotalMicroseconds / Sessions;
        started = Stopwatch.GetTimestamp();
        for (var i = 0; i < Sessions; i++)
        {
            hub.Hub.Closed(keys[i]);
        }

        return (join, Stopwatch.GetElapsedTime(started).TotalMicroseconds / Sessions);
    }
}
