using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using Pnh.LoadTest.Integrity;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Load;

/// <summary>
/// Processes of this same program that hold the sessions for which one process has too few files. They go through the same profile, open the sessions that are theirs, and then do what this
/// side says, a line at a time.
/// </summary>
internal sealed class Shares : IDisposable
{
    private readonly List<Process> _processes = [];

    /// <summary>Starts them and waits until their sessions are open.</summary>
    public void Open(int count, string run)
    {
        for (var share = 1; share <= count; share++)
        {
            var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardInput = true, RedirectStandardOutput = true };
            foreach (var word in Environment.GetCommandLineArgs().Skip(1).Concat(["--share", share.ToString(CultureInfo.InvariantCulture), "--run", run]))
            {
                start.ArgumentList.Add(word);
            }

            _processes.Add(Process.Start(start)!);
        }

        _processes.ForEach(static process => Expect(process, "ready"));
    }

    /// <summary>Deliveries that they got since <see cref="Restart"/>.</summary>
    public long Count() => _processes.Sum(static process => long.Parse(Ask(process, "count"), CultureInfo.InvariantCulture));

    public void Restart()
    {
        foreach (var process in _processes)
        {
            process.StandardInput.WriteLine("restart");
            Expect(process, "restarted");
        }
    }

    /// <summary>What each of them saw, judged by what was published here.</summary>
    public IReadOnlyList<ShareReport> Report(MessageLedger ledger)
    {
        foreach (var process in _processes)
        {
            foreach (var (stream, last) in ledger.Streams)
            {
                process.StandardInput.WriteLine(string.Create(CultureInfo.InvariantCulture, $"last {stream} {last}"));
            }

            foreach (var (stream, sequence) in ledger.Refused)
            {
                process.StandardInput.WriteLine(string.Create(CultureInfo.InvariantCulture, $"refused {stream} {sequence}"));
            }

            foreach (var (stream, sequence) in ledger.Unknown)
            {
                process.StandardInput.WriteLine(string.Create(CultureInfo.InvariantCulture, $"unknown {stream} {sequence}"));
            }
        }

        return [.. _processes.Select(static process => JsonSerializer.Deserialize(Ask(process, "report"), BenchJson.Default.ShareReport)!)];
    }

    /// <summary>They end when nothing can be said to them any more.</summary>
    public void Dispose()
    {
        foreach (var process in _processes)
        {
            process.StandardInput.Close();
            process.WaitForExit(5000);
            process.Dispose();
        }
    }

    private static string Ask(Process process, string question)
    {
        process.StandardInput.WriteLine(question);
        return process.StandardOutput.ReadLine() ?? throw new InvalidOperationException("a process of the load tester ended; its error is above");
    }

    private static void Expect(Process process, string answer)
    {
        if (process.StandardOutput.ReadLine() != answer)
        {
            throw new InvalidOperationException($"a process of the load tester did not answer {answer}; its error is above");
        }
    }
}
