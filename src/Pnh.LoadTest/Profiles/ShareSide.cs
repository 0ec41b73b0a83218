using System.Collections.Concurrent;
using System.Globalization;
using System.Text.Json;
using Pnh.LoadTest.Load;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Profiles;

/// <summary>The other end of <see cref="Shares"/>: its sessions listen, and it does what each line of standard input says until there are no more.</summary>
internal static class ShareSide
{
    /// <summary>Returns when the first process has ended, or wants no more.</summary>
    public static void Serve(BenchRun run)
    {
        var lines = new ConcurrentQueue<string?>();
        var reader = new Thread(() =>
        {
            string? line;
            do
            {
                line = Console.In.ReadLine();
                lines.Enqueue(line);
            }
            while (line is not null);
        })
        { IsBackground = true };
        reader.Start();
        Console.WriteLine("ready");
        var goesOn = true;
        run.Loop.Turns.Add(_ =>
        {
            while (goesOn && lines.TryDequeue(out var line))
            {
                goesOn = line is not null;
                Obey(run, line ?? "");
            }
        });
        run.Loop.Run(86_400, () => !goesOn);
    }

    private static void Obey(BenchRun run, string line)
    {
        var words = line.Split(' ');
        long Number(int word) => long.Parse(words[word], CultureInfo.InvariantCulture);
        switch (words[0])
        {
            case "restart":
                run.Arrivals.Restart();
                run.Ledger.Restart();
                foreach (var check in run.Fleet.Sessions.SelectMany(static session => session.Streams))
                {
                    check.Restart(Math.Max(check.Last, run.Ledger.Last(check.Stream)));
                }

                Console.WriteLine("restarted");
                break;
            case "count":
                Console.WriteLine(run.Arrivals.Count.ToString(CultureInfo.InvariantCulture));
                break;
            case "last":
                run.Ledger.Set((int)Number(1), Number(2));
                break;
            case "refused":
                run.Ledger.Refuse((int)Number(1), Number(2));
                break;
            case "unknown":
                run.Ledger.Doubt((int)Number(1), Number(2));
                break;
            case "report":
                Console.WriteLine(JsonSerializer.Serialize(Report(run), BenchJson.Default.ShareReport));
                break;
        }
    }

    private static ShareReport Report(BenchRun run)
    {
        var arrivals = run.Arrivals;
        return new ShareReport(
            arrivals.Count, run.Lost, arrivals.Duplicates, arrivals.Reordered, arrivals.Late, arrivals.Misrouted, run.Unwanted, arrivals.Mismatched, run.Fleet.Dropped,
            Environment.CpuUsage.TotalTime.TotalSeconds, arrivals.ToUsers.Data, arrivals.ToTopics.Data);
    }
}
