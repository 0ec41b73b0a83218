using System.Collections.Concurrent;
using Pnh.Channels.Links.Protocol;

namespace Pnh.Channels.Links;

/// <summary>What an edge asked its hub and was not answered yet. Thread-safe.</summary>
internal sealed class EdgeCalls
{
    private readonly ConcurrentDictionary<long, TaskCompletionSource<LinkAnswer>> _calls = new();
    private long _last;

    /// <summary>Says a call under a number of its own, and waits for its answer. Failed = the connection broke first.</summary>
    /// <param name="say">Says it; false = it went nowhere.</param>
    public Task<LinkAnswer> AskAsync(Func<long, bool> say)
    {
        var number = Interlocked.Increment(ref _last);
        var answered = _calls[number] = new TaskCompletionSource<LinkAnswer>(TaskCreationOptions.RunContinuationsAsynchronously);
        if (!say(number))
        {
            End(number, LinkAnswer.Failed); // it broke before the call was among those that the break ended
        }

        return answered.Task;
    }

    /// <summary>The call has its answer. Of one that nobody waits for nothing.</summary>
    public void End(long number, LinkAnswer answer)
    {
        if (_calls.TryRemove(number, out var call))
        {
            call.TrySetResult(answer);
        }
    }

    /// <summary>The connection is no more: all fail.</summary>
    public void EndAll()
    {
        foreach (var (number, _) in _calls)
        {
            End(number, LinkAnswer.Failed);
        }
    }
}
