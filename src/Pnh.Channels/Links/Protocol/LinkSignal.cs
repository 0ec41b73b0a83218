using System.Threading.Tasks.Sources;

namespace Pnh.Channels.Links.Protocol;

/// <summary>Wakes the writer of a link. A round is a <see cref="Reset"/>, then one wait and one <see cref="Set"/>, in either order. Thread-safe.</summary>
internal sealed class LinkSignal : IValueTaskSource, IThreadPoolWorkItem
{
    private ManualResetValueTaskSourceCore<bool> _core;

    /// <summary>Begins a round. The previous one has ended.</summary>
    public void Reset() => _core.Reset();

    /// <summary>Completes with the set.</summary>
    public ValueTask WaitAsync() => new(this, _core.Version);

    /// <summary>Wakes it: on a thread of the pool, or (<paramref name="byCaller"/>) on this one, which comes back when the writer waits again.</summary>
    public void Set(bool byCaller)
    {
        if (byCaller)
        {
            _core.SetResult(true);
        }
        else
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    void IThreadPoolWorkItem.Execute() => _core.SetResult(true);

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
