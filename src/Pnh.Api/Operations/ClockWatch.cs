using Pnh.Core.Diagnostics;
using Pnh.Core.Hubs;
using Pnh.Core.Timing;
using Pnh.Storage.Files;

namespace Pnh.Api.Operations;

/// <summary>Looks each second whether the machine's clock was set, says so in a line, and keeps where the hub's own stands for the next start.</summary>
internal sealed partial class ClockWatch(FolderClock kept, TimeProvider time, Hub hub, HubMetrics metrics, ILogger<ClockWatch> log) : IHostedService, IDisposable
{
    private readonly List<IDisposable> _registrations = [];

    public Task StartAsync(CancellationToken cancellationToken)
    {
        // A test may have put its own in place.
        if (time is SteadyClock clock)
        {
            _registrations.Add(metrics.RegisterClock(() => clock.Steps, () => clock.Ahead));
            _registrations.Add(SecondHand.Each(time, () => Look(clock)));
            kept.Write();
            if (clock.Ahead.Duration() > SteadyClock.LeastStep)
            {
                Apart(log, clock.Ahead.TotalSeconds);
            }
        }

        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public void Dispose()
    {
        _registrations.ForEach(static one => one.Dispose());
        _registrations.Clear();
    }

    private void Look(SteadyClock clock)
    {
        if (clock.Follow() is { } set)
        {
            Set(log, set.TotalSeconds, clock.Ahead.TotalSeconds);
            hub.ClockSet();
        }

        kept.Write();
    }

    [LoggerMessage(1, LogLevel.Warning,
        "The machine's clock was set by {Seconds:F0} s. Events keep their time: the hub's own clock goes on evenly and is {Ahead:F0} s ahead. Tokens and certificates go by the machine's: see that it is right.",
        EventName = "ClockSet")]
    private static partial void Set(ILogger logger, double seconds, double ahead);

    [LoggerMessage(2, LogLevel.Warning,
        "The hub's clock goes on from the hub before, {Ahead:F0} s ahead of the machine's, which was set meanwhile. Times in timelines and feed are the hub's; tokens and certificates go by the machine's.",
        EventName = "ClockApart")]
    private static partial void Apart(ILogger logger, double ahead);
}
