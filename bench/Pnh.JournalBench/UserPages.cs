using System.Diagnostics;
using System.Globalization;
using System.Text;
using Pnh.Core.Events;
using Pnh.Core.Journal;
using Pnh.Storage.Segments;

namespace Pnh.JournalBench;

/// <summary>
/// Pages of 50 of a user's events out of many that are retained: JournalBench users [events]. Each event is of one user of 100,000, so that a user has one in each
/// part of the log; every second user of a page is one with a thousandth of all events.
/// </summary>
internal static class UserPages
{
    private const int Users = 100_000;
    private const int Publishers = 1_024;
    private const int Pages = 2_000;

    public static async Task RunAsync(string folder, int events)
    {
        await using (var journal = SegmentJournal.Open(folder, TimeProvider.System))
        {
            var started = Stopwatch.GetTimestamp();
            await Task.WhenAll(Enumerable.Range(0, Publishers).Select(publisher => Task.Run(() => FillAsync(journal, publisher, events / Publishers))));
            Console.WriteLine($"{events:N0} events in {Stopwatch.GetElapsedTime(started).TotalSeconds:F0} s, {Bytes(folder, "*.log"):N0} MB of log, {Bytes(folder, "*.users"):N0} MB of tables");
            await AskAsync(journal, "the process that wrote them");
        }

        var opened = Stopwatch.GetTimestamp();
        await using var again = SegmentJournal.Open(folder, TimeProvider.System);
        Console.WriteLine($"opened in {Stopwatch.GetElapsedTime(opened).TotalSeconds:F1} s");
        await AskAsync(again, "after a start");
        await AskAsync(again, "after a start, again");
    }

    private static long Bytes(string folder, string files) =>
        new DirectoryInfo(folder).EnumerateFiles(files, SearchOption.AllDirectories).Sum(static file => file.Length) / 1_000_000;

    private static async Task FillAsync(SegmentJournal journal, int publisher, int events)
    {
        var random = new Random(publisher);
        var body = Encoding.UTF8.GetBytes("{\"to\":{\"user\":\"ada\"},\"data\":\"" + new string('x', 190) + "\"}");
        for (var n = 0; n < events; n++)
        {
            var now = TimeProvider.System.GetUtcNow();
            var user = random.Next(10) == 0 ? $"much-{random.Next(100)}" : $"user-{random.Next(Users)}";
            var accepted = new Event
            {
                App = "bench",
                Id = string.Create(CultureInfo.InvariantCulture, $"e-{publisher}-{n}"),
                To = EventTarget.ToUser(user),
                AcceptedAt = now,
                ExpiresAt = now + TimeSpan.FromHours(24),
                Body = body,
            };
            await journal.AppendAsync(accepted, default);
            foreach (var kind in (MilestoneKind[])[MilestoneKind.Planned, MilestoneKind.Framed, MilestoneKind.Settled])
            {
                journal.Note(new Milestone("bench", accepted.Id, EventClass.Message, kind, now) { User = user, Device = "phone", State = "acked", Channel = "websocket" });
            }

            journal.Finish("bench", accepted.Id);
        }
    }

    private static async Task AskAsync(SegmentJournal journal, string when)
    {
        var random = new Random(7);
        var times = new List<double>();
        var found = 0;
        for (var n = 0; n < Pages; n++)
        {
            var user = n % 2 == 0 ? $"much-{random.Next(100)}" : $"user-{random.Next(Users)}";
            var started = Stopwatch.GetTimestamp();
            found += (await journal.ReadUserAsync("bench", user, null, 50, default)).Events.Count;
            times.Add(Stopwatch.GetElapsedTime(started).TotalMilliseconds);
        }

        var first = times[0];
        times.Sort();
        Console.WriteLine(
            $"{when}: {Pages:N0} pages, {(double)found / Pages:F1} events each; first {first:F1} ms, p50 {Round.Quantile(times, 0.5):F2} ms, p99 {Round.Quantile(times, 0.99):F2} ms, longest {times[^1]:F1} ms");
    }
}
