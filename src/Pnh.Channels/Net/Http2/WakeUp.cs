using System.Threading.Tasks.Sources;

namespace Pnh.Channels.Net.Http2;

/// <summary>Wakes one waiting loop; calls while it is awake make its next wait return at once. Allocates nothing.</summary>
internal sealed class WakeUp : IValueTaskSource
{
    private const int Asleep = 2;
    private const int Called = 1;
    private const int Awake = 0;

    private ManualResetValueTaskSourceCore<bool> _core;
    private int _state;

    /// <summary>For the loop alone.</summary>
    public ValueTask WaitAsync()
    {
        if (Interlocked.CompareExchange(ref _state, Awake, Called) == Called)
        {
            return ValueTask.CompletedTask;
        }

        _core.Reset();
        var task = new ValueTask(this, _core.Version);
        if (Interlocked.CompareExchange(ref _state, Asleep, Awake) == Awake)
        {
            return task;
        }

        Volatile.Write(ref _state, Awake);
        return ValueTask.CompletedTask;
    }

    /// <param name="inline">Runs the loop on this thread when it sleeps. Never under a lock.</param>
    public void Set(bool inline)
    {
        while (true)
        {
            switch (Volatile.Read(ref _state))
            {
                case Called:
                    return;
                case Awake when Interlocked.CompareExchange(ref _state, Called, Awake) == Awake:
                    return;
                case Asleep when Interlocked.CompareExchange(ref _state, Awake, Asleep) == Asleep:
                    _core.RunContinuationsAsynchronously = !inline;
                    _core.SetResult(true);
                    return;
            }
        }
    }

    void IValueTaskSource.GetResult(short token) => _core.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);
}
