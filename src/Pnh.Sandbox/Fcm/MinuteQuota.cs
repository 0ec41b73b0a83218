namespace Pnh.Sandbox.Fcm;

/// <summary>A project's messages per minute: a bucket refilled whole, each minute from its first use ("FCM throttling and quotas"). Thread-safe.</summary>
internal sealed class MinuteQuota
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly int _size;
    private DateTimeOffset _refill = DateTimeOffset.MinValue;
    private int _left;

    public MinuteQuota(int size)
    {
        _size = size;
    }

    /// <summary>Takes one; null when there was one, else the time until the refill.</summary>
    public TimeSpan? Take(DateTimeOffset now)
    {
        lock (_lock)
        {
            if (now >= _refill)
            {
                _refill = now + Minute;
                _left = _size;
            }

            return _left-- > 0 ? null : _refill - now;
        }
    }
}
