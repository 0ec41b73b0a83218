using System.Runtime.CompilerServices;

namespace Pnh.TestKit;

/// <summary>For what comes soon, on a busy machine later.</summary>
public static class Waiting
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    /// <summary>Looks every few milliseconds; throws what was waited for after 30 s.</summary>
    public static async Task UntilAsync(Func<bool> holds, [CallerArgumentExpression(nameof(holds))] string what = "")
    {
        ArgumentNullException.ThrowIfNull(holds);
        var since = TimeProvider.System.GetTimestamp();
        while (!holds())
        {
            if (TimeProvider.System.GetElapsedTime(since) > Patience)
            {
                throw new TimeoutException($"Not within {Patience.TotalSeconds} s: {what}");
            }

            await Task.Delay(2).ConfigureAwait(false);
        }
    }
}
