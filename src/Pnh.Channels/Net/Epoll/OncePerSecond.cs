namespace Pnh.Channels.Net.Epoll;

/// <summary>Lets one of many through each second, and counts the others. Not thread-safe: its owner has a lock or a thread of its own.</summary>
internal struct OncePerSecond(TimeProvider clock)
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private long _last;
    private long _times;
    private bool _hasBegun;

    /// <summary>True at most once a second; <paramref name="times"/> = how often it was asked since the last time, this one included.</summary>
    public bool IsDue(out long times)
    {
        times = ++_times;
        if (_hasBegun && clock.GetElapsedTime(_last) < Second)
        {
            return false;
        }

        _hasBegun = true;
        _last = clock.GetTimestamp();
        _times = 0;
        return true;
    }
}
