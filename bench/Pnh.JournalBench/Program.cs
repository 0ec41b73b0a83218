using System.Globalization;
using System.Text;
using Pnh.JournalBench;

// JournalBench [file of the report] [folder on the disk to measure] [seconds per round] [rounds]
// JournalBench users [events]: pages of a user's events
if (args is ["users", .. var of])
{
    var data = Directory.CreateTempSubdirectory("pnh-journal-bench-").FullName;
    try
    {
        await UserPages.RunAsync(data, of.Length > 0 ? int.Parse(of[0], CultureInfo.InvariantCulture) : 10_000_000);
    }
    finally
    {
        Directory.Delete(data, recursive: true);
    }

    return;
}

var report = args.Length > 0 ? args[0] : Path.Combine("bench", "results", "journal.md");
var folder = Directory.CreateTempSubdirectory("pnh-journal-bench-").FullName;
if (args.Length > 1)
{
    Directory.Delete(folder);
    folder = Directory.CreateDirectory(Path.Combine(args[1], Path.GetFileName(folder))).FullName;
}

var time = TimeSpan.FromSeconds(args.Length > 2 ? double.Parse(args[2], CultureInfo.InvariantCulture) : 3);
var times = args.Length > 3 ? int.Parse(args[3], CultureInfo.InvariantCulture) : 3;
var rounds = new List<Round>();
var syncs = new List<double>();
try
{
    // Engines take turns, so that a noisy minute hits both.
    foreach (var publishers in (int[])[1, 64, 1_024])
    {
        for (var i = 0; i < times; i++)
        {
            syncs.AddRange(Disk.Syncs(folder));
            foreach (var engine in (string[])["SQLite", "segments"])
            {
                var own = Directory.CreateDirectory(Path.Combine(folder, string.Create(CultureInfo.InvariantCulture, $"{engine}-{publishers}-{i}"))).FullName;
                await using (IEngine opened = engine == "SQLite" ? new SqliteBaseline(own) : new SegmentEngine(own))
                {
                    rounds.Add(await Round.RunAsync(opened, publishers, time));
                    Console.WriteLine(rounds[^1]);
                }

                Directory.Delete(own, recursive: true);
            }
        }
    }
}
finally
{
    Directory.Delete(folder, recursive: true);
}

syncs.Sort();
var text = new StringBuilder();
text.AppendLine("# Journal: durable accepts");
text.AppendLine();
text.AppendLine("Written by `bench/Pnh.JournalBench`. 250-byte bodies; each event is appended (waited for), gets one settled delivery and is finished (not waited for).");
text.AppendLine("Publishers run in the same process and are part of the CPU. Medians of the rounds; in brackets the range. Only rows of one table compare.");
text.AppendLine();
text.AppendLine("| publishers | engine | accepts per CPU second | CPU us per accept: process / writer | accepts/s | per commit | accept p50 / p99, ms |");
text.AppendLine("|---|---|---|---|---|---|---|");
foreach (var group in rounds.GroupBy(round => (round.Publishers, round.Engine)))
{
    text.AppendLine(CultureInfo.InvariantCulture,
        $"| {group.Key.Publishers} | {group.Key.Engine} | {Median(group, r => r.PerCpuSecond):N0} ({group.Min(r => r.PerCpuSecond):N0}–{group.Max(r => r.PerCpuSecond):N0}) | {Median(group, r => r.MicrosecondsPerAccept):N1} / {Median(group, r => r.WriterMicroseconds):N2} | {Median(group, r => r.PerSecond):N0} | {Median(group, r => r.PerCommit):N0} | {Median(group, r => r.P50):N2} / {Median(group, r => r.P99):N2} |");
}

text.AppendLine();
text.AppendLine(CultureInfo.InvariantCulture,
    $"fdatasync of 512 bytes in a preallocated file, same disk, between the rounds: p50 {Round.Quantile(syncs, 0.5):N3} ms, p99 {Round.Quantile(syncs, 0.99):N3} ms.");
await File.WriteAllTextAsync(report, text.ToString());
Console.WriteLine(text);

static double Median(IEnumerable<Round> rounds, Func<Round, double> of)
{
    var sorted = rounds.Select(of).Order().ToList();
    return sorted[sorted.Count / 2];
}
