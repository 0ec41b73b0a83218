using System.Diagnostics;

namespace Pnh.Api.Tests.EndToEnd;

/// <summary>The program as a process of its own, until it ends by itself.</summary>
internal static class ProgramRun
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Its exit code and every line that it said, those of standard error behind the others; <paramref name="variable"/> is set for it alone.</summary>
    internal static async Task<(int ExitCode, string[] Lines)> RunAsync(IEnumerable<string> words, (string Name, string Value) variable)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, "pnh"), words)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment[variable.Name] = variable.Value;
        using var patience = new CancellationTokenSource(Patience);
        using var program = Process.Start(start)!;
        try
        {
            var said = await Task.WhenAll(program.StandardOutput.ReadToEndAsync(patience.Token), program.StandardError.ReadToEndAsync(patience.Token));
            await program.WaitForExitAsync(patience.Token);
            return (program.ExitCode, string.Concat(said).Split('\n', StringSplitOptions.RemoveEmptyEntries));
        }
        finally
        {
            program.Kill();
        }
    }
}
