namespace Pnh.Channels.Provider.Connections;

/// <summary>
/// When a pool may dial. Providers take many connections in a short time for an attack, so dials have a bucket, and each one that came to nothing
/// doubles a pause, spread so that pools do not come back together. Not thread-safe: its pool's lock guards it.
/// </summary>
internal sealed class DialBudget
{
    /// <summary>One dial more per this time, once the bucket is empty.</summary>
    public static readonly TimeSpan Refill = TimeSpan.FromSeconds(5);

    /// <summary>A provider that is back is met again within a minute, and a dead one sees three dials a minute from each pool.</summary>
    public static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(250);

    /// <summary>The word for a dial that may not be made because there were many.</summary>
    public const string Paced = "dial-paced";

    private readonly TimeProvider _time;
    private readonly int _burst;
    private readonly long _start;
    private TimeSpan _notBefore;
    private TimeSpan _fullAt;
    private int _failures;
    private TimeSpan _failedAt;
    private string _fault = Paced;

    /// <param name="burst">Dials at once from a full bucket: enough to open every connection of the pool, and to replace some.</param>
    /// <param name="time">Clock.</param>
    public DialBudget(int burst, TimeProvider time)
    {
        _burst = burst;
        _time = time;
        _start = time.GetTimestamp();
    }

    /// <summary>True, and one dial is taken, when one may be made now.</summary>
    public bool TryTake()
    {
        var now = Now;
        if (Wait(now) > TimeSpan.Zero)
        {
            return false;
        }

        _fullAt = (_fullAt > now ? _fullAt : now) + Refill;
        return true;
    }

    /// <summary>How long until one may be made; zero = now.</summary>
    public TimeSpan Wait() => Wait(Now);

    /// <summary>Why none may be made now: the fault just met, as long as nothing has answered since; else <see cref="Paced"/>.</summary>
    public string Reason => _failures > 0 && Now - _failedAt <= LongestPause ? _fault : Paced;

    /// <summary>A dial failed, or its connection ended before it had answered anything; <paramref name="fault"/> says how, in kebab-case.</summary>
    public void Failed(string fault)
    {
        _fault = fault;
        _failedAt = Now;
        var pause = FirstPause * (1 << Math.Min(_failures++, 10));
        pause = (pause < LongestPause ? pause : LongestPause) * (0.5 + Random.Shared.NextDouble());
        _notBefore = Now + (pause < LongestPause ? pause : LongestPause);
    }

    /// <summary>A connection has answered: the next failure begins with the shortest pause.</summary>
    public void Succeeded() => _failures = 0;

    /// <summary>A dial that was taken shall not count: the peer itself asked for its connection's successor.</summary>
    public void GiveBack()
    {
        if (_fullAt > Now)
        {
            _fullAt -= Refill;
        }
    }

    private TimeSpan Now => _time.GetElapsedTime(_start);

    private TimeSpan Wait(TimeSpan now)
    {
        // The bucket as the time at which it would be full again (GCRA): no timer, no drift.
        var byBucket = _fullAt - now - (Refill * (_burst - 1));
        var byPause = _notBefore - now;
        var longer = byBucket > byPause ? byBucket : byPause;
        return longer > TimeSpan.Zero ? longer : TimeSpan.Zero;
    }
}
