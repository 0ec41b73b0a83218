using System.ComponentModel;
using System.Diagnostics;
using System.Text.Json;
using Pnh.LoadTest.Measure;

namespace Pnh.LoadTest.Load;

/// <summary>
/// Calls from a process of their own beside another load, ahead of it in the scheduler where that is allowed: in one process a call's frame stood behind the
/// broadcast's frames that the tool had still to read, which is the tool's queue and not the server's.
/// </summary>
internal sealed class CallsAside : IDisposable
{
    private const double Warm = 2;
    private readonly Process _process;

    /// <summary>Starts it.</summary>
    /// <param name="rate">Calls per second, to 64 users of its own.</param>
    /// <param name="seconds">Measured so long, after <see cref="Warm"/>.</param>
    public CallsAside(double rate, double seconds)
    {
        IsAhead = Succeeds("chrt", "-f", "1", "true");
        var start = new ProcessStartInfo(IsAhead ? "chrt" : Environment.ProcessPath!) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var word in IsAhead ? new[] { "-f", "1", Environment.ProcessPath! } : [])
        {
            start.ArgumentList.Add(word);
        }

        foreach (var word in Environment.GetCommandLineArgs().Skip(1))
        {
            start.ArgumentList.Add(word == "mixed" ? "one" : word);
        }

        foreach (var word in FormattableString.Invariant(
            $"--class call --sessions 64 --publishers 8 --rate {rate} --seconds {seconds} --warm {Warm} --run c{TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds():x}").Split(' '))
        {
            start.ArgumentList.Add(word);
        }

        if (!start.ArgumentList.Contains("--json"))
        {
            start.ArgumentList.Add("--json");
        }

        _process = Process.Start(start)!;
        _process.ErrorDataReceived += static (_, _) => { };
        _process.BeginErrorReadLine();
    }

    /// <summary>True when it runs ahead of everything else on its core.</summary>
    public bool IsAhead { get; }

    /// <summary>How long it takes at least.</summary>
    public static double Needs(double seconds) => seconds + Warm + 1;

    /// <summary>What it measured; waits for its end.</summary>
    public BenchResult Read() => _process.StandardOutput.ReadToEnd() is { Length: > 0 } result
        ? JsonSerializer.Deserialize(result, BenchJson.Default.BenchResult)!
        : throw new InvalidOperationException("the process that calls ended without a result");

    public void Dispose()
    {
        _process.WaitForExit(5000);
        _process.Dispose();
    }

    private static bool Succeeds(string program, params string[] words)
    {
        try
        {
            using var process = Process.Start(new ProcessStartInfo(program, words) { RedirectStandardError = true })!;
            process.WaitForExit();
            return process.ExitCode == 0;
        }
        catch (Win32Exception)
        {
            return false;
        }
    }
}
