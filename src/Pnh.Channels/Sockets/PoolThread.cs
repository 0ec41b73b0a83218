namespace Pnh.Channels.Sockets;

/// <summary>
/// Lets the loops go before the thread pool when there are fewer cores than work. A loop says what comes in and refuses what is too much; when it has to
/// share a full core evenly with the pool's threads, refusals wait behind the work that they are to keep away. With twice the load that a core takes, the
/// slowest hundredth of the refusals took 18 to 38 ms without this and 4 to 15 ms with it. Linux only, where threads have a niceness of their own
/// (setpriority(2)); lowering it needs no right.
/// </summary>
internal static class PoolThread
{
    // Three times the share for a loop (sched(7): a tenth of CPU time per step, more or less). 10 was no better.
    private const int Steps = 5;

    // The process's own: a thread inherits what the one has that starts it, so a thread's own says nothing.
    private static readonly int Niceness = Math.Min(19, Syscalls.NicenessOf(Environment.ProcessId) + Steps);

    [ThreadStatic]
    private static bool _hasGivenWay;

    /// <summary>For a thread of the pool: from now on it gives way, for good. Cheap when it does already.</summary>
    public static void GiveWay()
    {
        if (!_hasGivenWay)
        {
            _hasGivenWay = true;
            _ = Syscalls.SetNiceness(Niceness);
        }
    }
}
