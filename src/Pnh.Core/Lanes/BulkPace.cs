using Pnh.Core.Timing;

namespace Pnh.Core.Lanes;

/// <summary>
/// How fast bulk goes, so that a campaign takes the cores that are free and no more. A push passes the thread pool some six times; with 800 of them under
/// way the pool had 10 ms of work queued, and a call waited for that at each of its own six. So while work waits for a core, each lane's width
/// narrows; while none does and lanes use it up, it widens. Answers come in bursts: what follows them is done in <see cref="Turns"/>. And uploads
/// bring no more than the lanes take: 65,000 that wait are garbage that lives, and each collection stopped everybody for 12 ms to move it. Thread-safe.
/// </summary>
internal sealed class BulkPace(TimeProvider time)
{
    /// <summary>Average wait for a core that a call may meet at each of its steps: 1.5 ms in all, of the 10 that a campaign may cost it; a collection takes 6.</summary>
    internal static readonly TimeSpan Target = TimeSpan.FromMilliseconds(0.25);

    /// <summary>Deliveries in the queues of all bulk lanes with which an upload goes on: 10 ms of work, as long as a look takes.</summary>
    internal const int MostWaiting = 64;

    // An event of an upload keeps a core for 30 us: a whole batch for 8 ms, a small one for 1.
    internal const int WholeBatch = 256;
    internal const int SmallBatch = 32;

    // 640 pushes a second to a provider that answers after 100 ms, whatever else the cores do.
    private const int Least = 64;
    private const int Most = 4_096;
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(10);
    private int _width = Least;
    private double _average;
    private bool _isUsedUp;
    private int _waiting;
    private long _taken;

    /// <summary>Where bulk's steps between two waits are done.</summary>
    internal Turns Turns { get; } = new(time);

    /// <summary>Most events that an upload shall bring at once: few while bulk waits, since then the lanes are what it waits for.</summary>
    internal int Batch => Volatile.Read(ref _waiting) > 0 ? SmallBatch : WholeBatch;

    /// <summary>Most pushes that each lane may have under way.</summary>
    internal int Width => Volatile.Read(ref _width);

    /// <summary>A lane would have more under way if it could. A lost race costs one measurement.</summary>
    internal void UsedUp() => Volatile.Write(ref _isUsedUp, true);

    /// <summary>A lane's queue took so many.</summary>
    internal void Queued(int count) => Interlocked.Add(ref _waiting, count);

    /// <summary>A lane's queue gave so many.</summary>
    internal void Taken(int count)
    {
        Interlocked.Add(ref _waiting, -count);
        Interlocked.Add(ref _taken, count);
    }

    /// <summary>
    /// Takes a measurement of how long work waits for a core. For one caller, some 100 times a second while it answers that bulk is under way: then a width of 64 is
    /// 1,000 within a second.
    /// </summary>
    internal bool Observe(TimeSpan wait)
    {
        var isUnderWay = Volatile.Read(ref _isUsedUp) || Volatile.Read(ref _waiting) > 0;
        var width = _width;
        _average += (wait.Ticks - _average) / 8;
        if (_average > Target.Ticks)
        {
            width -= (int)(width * Math.Min(1, (_average - Target.Ticks) / Target.Ticks) / 16);
        }
        else if (_isUsedUp)
        {
            width += Math.Max(1, width / 32);
        }

        Volatile.Write(ref _isUsedUp, false);
        Volatile.Write(ref _width, Math.Clamp(width, Least, Most));
        return isUnderWay;
    }

    /// <summary>
    /// Completes when few enough wait, or when none was taken for a while: then a provider hangs, and waiting would not help. Synchronous when few wait.
    /// </summary>
    internal ValueTask WaitForRoomAsync(CancellationToken cancellationToken) =>
        Volatile.Read(ref _waiting) <= MostWaiting ? ValueTask.CompletedTask : WaitAsync(cancellationToken);

    private async ValueTask WaitAsync(CancellationToken cancellationToken)
    {
        for (var before = -1L; Volatile.Read(ref _waiting) > MostWaiting && Volatile.Read(ref _taken) != before;)
        {
            before = Volatile.Read(ref _taken);
            await Task.Delay(Look, time, cancellationToken).ConfigureAwait(false);
        }
    }
}
