using Spectre.Console;

namespace Pnh.Api.Commands;

/// <summary>A bar on a terminal while files are copied. On standard error, so that what a command says stays alone on the other.</summary>
internal static class CopyBar
{
    /// <summary>Runs the work, which tells the bytes of each piece. Where no person reads it there is no bar, and its library is not loaded.</summary>
    /// <param name="output">The command's.</param>
    /// <param name="what">What is done, in a word.</param>
    /// <param name="from">Folder that is copied: its files are the whole.</param>
    /// <param name="work">The work.</param>
    public static Task<T> RunAsync<T>(CommandOutput output, string what, string from, Func<Action<long>, Task<T>> work) =>
        output.IsTerminal ? ShowAsync(output.Error, what, BytesOf(from), work) : work(static _ => { });

    private static async Task<T> ShowAsync<T>(TextWriter terminal, string what, long whole, Func<Action<long>, Task<T>> work)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(terminal) });
        return await console.Progress()
            .Columns(new TaskDescriptionColumn(), new ProgressBarColumn(), new PercentageColumn(), new DownloadedColumn(), new RemainingTimeColumn())
            .StartAsync(async bars =>
            {
                var bar = bars.AddTask(what, maxValue: Math.Max(1, whole));
                var shown = 0;
                var result = await work(bytes =>
                {
                    bar.Increment(bytes);
                    if ((int)bar.Percentage != shown)
                    {
                        // By itself it looks once a while, and a quick copy is over by then.
                        shown = (int)bar.Percentage;
                        bars.Refresh();
                    }
                });
                bar.Value = bar.MaxValue; // files that were removed meanwhile
                return result;
            });
    }

    // A folder that is not there is the work's to name.
    private static long BytesOf(string folder) => Directory.Exists(folder)
        ? new DirectoryInfo(folder).EnumerateFiles("*", SearchOption.AllDirectories).Sum(static file => file.Exists ? file.Length : 0)
        : 0;
}
