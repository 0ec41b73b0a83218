namespace Pnh.Core.Threads;

/// <summary>
/// Lets a thread have what others leave of the core: nothing waits for it (niceness 10, a tenth of the share of a usual thread, and SCHED_BATCH, which interrupts nobody;
/// sched(7)). Any user may; it is not given back. Linux, elsewhere nothing changes.
/// </summary>
public static class LowPriority
{
    private const int Niceness = 10;

    /// <summary>For the calling thread, until it ends. False when the system knows no such thing, or the process has another policy.</summary>
    public static bool Take()
    {
        if (!SchedulerAttributes.TryRead(out var attributes) || attributes.Policy != SchedulerAttributes.Other)
        {
            return false;
        }

        (attributes.Policy, attributes.Nice) = (SchedulerAttributes.Batch, Math.Max(attributes.Nice, Niceness));
        return attributes.TryWrite();
    }

    /// <summary>The present niceness of the calling thread; 0 = the usual one, or unknown.</summary>
    public static int Read() => SchedulerAttributes.TryRead(out var attributes) ? attributes.Nice : 0;
}
