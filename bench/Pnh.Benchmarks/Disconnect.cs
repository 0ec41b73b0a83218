using System.Diagnostics;
using System.Globalization;
using System.Text;
using Pnh.Core.Sessions;

namespace Pnh.Benchmarks;

/// <summary>
/// What the end of a session costs, by how many topics there are. The work is the same at every size, so what still rises is memory: two controls in the same run show how much of it, the
/// same closes with neighbouring topics instead of random ones, and the removal of as many members from plain dictionaries of that size.
/// </summary>
internal static class Disconnect
{
    private const int Sessions = 20_000;
    private const int Own = 3;
    private const int Rounds = 5;

    public static int Run(string report)
    {
        var text = new StringBuilder();
        text.AppendLine("# Disconnects");
        text.AppendLine();
        text.AppendLine(CultureInfo.InvariantCulture,
            $"Written by `bench/Pnh.Benchmarks disconnect FILE`. {Sessions:N0} sessions, each in {Own} of the topics, close one after the other; the topics have others in them. Medians of {Rounds} rounds, us.");
        text.AppendLine("The work of a disconnect is the same in every row. What rises is the price of memory that is not in the processor's cache, and two controls say so: the same with topics that lie side");
        text.AppendLine($"by side, and {Own} removals from a `Dictionary<string, HashSet<string>>` with as many entries, by the same random choice: no session, no lock, no order.");
        text.AppendLine();
        text.AppendLine("| topics | per disconnect | times that of 1,000 | topics side by side | plain dictionary | times that of 1,000 | per join of 3 topics |");
        text.AppendLine("|---|---|---|---|---|---|---|");
        (double Close, double Plain) first = default;
        foreach (var topics in (int[])[1_000, 10_000, 50_000, 200_000])
        {
            List<double> joins = [], closes = [], neighbours = [], plain = [];
            for (var round = 0; round <= Rounds; round++)
            {
                var random = Choose(topics, isRandom: true);
                var (join, close) = Once(topics, random);
                var (_, neighbour) = Once(topics, Choose(topics, isRandom: false));
                var control = Control(topics, random);
                if (round > 0) // the first compiles and fills caches
                {
                    joins.Add(join);
                    closes.Add(close);
                    neighbours.Add(neighbour);
                    plain.Add(control);
                }
            }

            first = first == default ? (Median(closes), Median(plain)) : first;
            text.AppendLine(CultureInfo.InvariantCulture,
                $"| {topics:N0} | {Median(closes):N2} | {Median(closes) / first.Close:N1} | {Median(neighbours):N2} | {Median(plain):N2} | {Median(plain) / first.Plain:N1} | {Median(joins):N2} |");
        }

        File.WriteAllText(report, text.ToString());
        Console.WriteLine(text);
        return 0;
    }

    private static double Median(List<double> values) => values.Order().ElementAt(values.Count / 2);

    private static string Name(int topic) => string.Create(CultureInfo.InvariantCulture, $"room-{topic}");

    private static string[][] Choose(int topics, bool isRandom)
    {
        var random = new Random(7);
        return [.. Enumerable.Range(0, Sessions).Select(session =>
            Enumerable.Range(0, Own).Select(i => Name(isRandom ? random.Next(topics) : ((session * Own) + i) % topics)).ToArray())];
    }

    private static (double Join, double Close) Once(int topics, string[][] joined)
    {
        using var hub = new BenchHub().Open(topics, Name);
        var keys = new SessionKey[Sessions];
        for (var i = 0; i < Sessions; i++)
        {
            keys[i] = new SessionKey(BenchHub.App, string.Create(CultureInfo.InvariantCulture, $"leaver-{i}"), "tab-1", Guid.NewGuid().ToString("N"));
            hub.Open(keys[i], new NullLink());
        }

        var started = Stopwatch.GetTimestamp();
        for (var i = 0; i < Sessions; i++)
        {
            hub.Hub.Router.Joined(keys[i], joined[i]);
        }

        var join = Stopwatch.GetElapsedTime(started).TotalMicroseconds / Sessions;
        started = Stopwatch.GetTimestamp();
        for (var i = 0; i < Sessions; i++)
        {
            hub.Hub.Router.Closed(keys[i]);
        }

        return (join, Stopwatch.GetElapsedTime(started).TotalMicroseconds / Sessions);
    }

    private static double Control(int topics, string[][] joined)
    {
        var members = Enumerable.Range(0, topics).ToDictionary(Name, static i => new HashSet<string>(StringComparer.Ordinal) { BenchHub.User(i) }, StringComparer.Ordinal);
        var leavers = Enumerable.Range(0, Sessions).Select(static i => string.Create(CultureInfo.InvariantCulture, $"leaver-{i}")).ToArray();
        for (var i = 0; i < Sessions; i++)
        {
            Array.ForEach(joined[i], topic => members[topic].Add(leavers[i]));
        }

        var started = Stopwatch.GetTimestamp();
        for (var i = 0; i < Sessions; i++)
        {
            foreach (var topic in joined[i])
            {
                members[topic].Remove(leavers[i]);
            }
        }

        return Stopwatch.GetElapsedTime(started).TotalMicroseconds / Sessions;
    }
}
