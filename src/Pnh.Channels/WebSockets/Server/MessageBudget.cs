namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// Token bucket over a client's messages: <c>burst</c> at once, <c>perSecond</c> for long. Not thread-safe: the receive loop's own.
/// A struct without a timer: it refills by the time that has gone by when it is asked.
/// </summary>
internal struct MessageBudget
{
    private readonly double _perTick;
    private readonly double _burst;
    private double _tokens;
    private long _last;

    public MessageBudget(int perSecond, int burst, long ticksPerSecond, long now)
    {
        _perTick = (double)perSecond / ticksPerSecond;
        _burst = burst;
        _tokens = burst;
        _last = now;
    }

    /// <summary>Takes one message from the budget; false when it is spent.</summary>
    public bool TryTake(long now)
    {
        _tokens = Math.Min(_burst, _tokens + ((now - _last) * _perTick));
        _last = now;
        if (_tokens < 1)
        {
            return false;
        }

        _tokens--;
        return true;
    }

    /// <summary>Gives one back: the acks for which that is done are bounded by the frames that we wrote.</summary>
    public void Return() => _tokens = Math.Min(_burst, _tokens + 1);
}
