using Pnh.TestKit;

namespace Pnh.Api.Tests.EndToEnd.Faults;

/// <summary>
/// Lets a fake clock run: quickly while nothing is under way, and not at all while requests are, so that a busy machine is never taken for a slow provider.
/// Requests that stay under way for good (a provider that hangs) do not stop it for long.
/// </summary>
internal sealed class ClockRunner : IAsyncDisposable
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(250);

    /// <summary>Real time: longer than a healthy answer takes, on a busy machine too.</summary>
    private static readonly TimeSpan Hanging = TimeSpan.FromMilliseconds(500);

    private readonly FakeTimeProvider _clock;
    private readonly Func<long> _underWay;
    private readonly CancellationTokenSource _stopping = new();
    private readonly Task _running;

    public ClockRunner(FakeTimeProvider clock, Func<long> underWay)
    {
        _clock = clock;
        _underWay = underWay;
        _running = Task.Run(RunAsync);
    }

    /// <summary>True while requests are meant to hang: the clock runs on.</summary>
    public bool IsFree { get; set; }

    /// <summary>True: the clock stands, but for <see cref="StepAsync"/>.</summary>
    public bool IsHeld { get; set; }

    /// <summary>
    /// Moves the clock on by so much, step by step, and lets the hub come to rest after each. What sleeps on the clock itself (a pause between two attempts) is
    /// not waited for.
    /// </summary>
    public async Task StepAsync(TimeSpan time, Func<bool> atRest)
    {
        for (var until = _clock.GetUtcNow() + time; _clock.GetUtcNow() < until;)
        {
            _clock.Advance(Step);
            for (var (quiet, turn) = (0, 0); quiet < 2 && (turn < 20 || _underWay() > 0); turn++)
            {
                await Task.Delay(1);
                quiet = atRest() ? quiet + 1 : 0;
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await _running;
    }

    private async Task RunAsync()
    {
        var (seen, since) = (0L, TimeProvider.System.GetTimestamp());
        while (!_stopping.IsCancellationRequested)
        {
            var now = _underWay();
            if (now != seen)
            {
                (seen, since) = (now, TimeProvider.System.GetTimestamp());
            }

            if (!IsHeld && (now == 0 || IsFree || TimeProvider.System.GetElapsedTime(since) > Hanging))
            {
                _clock.Advance(Step);
            }

            await Task.Delay(1);
        }
    }
}
