using System.Runtime.CompilerServices;

namespace Pnh.Core.Timing;

/// <summary>
/// Long work in steps, done one after another by as many threads of the pool as there are cores, each for <see cref="Slice"/> and then behind whatever else
/// waits: the answers to bulk pushes, the fan-out to many. A provider that is sent 64 pushes at once answers them at once: as 64 items of the pool they kept a
/// call waiting for 6 ms at each of its steps, and had the framework hold more buffers of 32 kB than its pool keeps, half of all garbage. Five broadcasts under
/// way kept a call waiting for five of their steps. Thread-safe.
/// </summary>
public sealed class Turns : IThreadPoolWorkItem
{
    /// <summary>Three or four pushes' steps: long beside the 5 us that a turn costs, short beside what a call may wait.</summary>
    internal static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(0.25);

    private readonly Queue<Action> _waiting = new();
    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly int _most;
    private readonly Action<IThreadPoolWorkItem> _queue;
    private int _running;

    /// <summary>As many threads as cores.</summary>
    /// <param name="time">Clock of the slices.</param>
    public Turns(TimeProvider time)
        : this(time, Environment.ProcessorCount, static turns => ThreadPool.UnsafeQueueUserWorkItem(turns, preferLocal: false))
    {
    }

    /// <summary>With another queue than the pool's, so that a test sees each turn.</summary>
    internal Turns(TimeProvider time, int most, Action<IThreadPoolWorkItem> queue)
    {
        _time = time;
        _most = most;
        _queue = queue;
    }

    /// <summary>To be awaited: goes on when it is its turn, never at once.</summary>
    public Turn NextAsync() => new(this);

    void IThreadPoolWorkItem.Execute()
    {
        var since = _time.GetTimestamp();
        do
        {
            Action? step;
            lock (_gate)
            {
                if (!_waiting.TryDequeue(out step))
                {
                    _running--;
                    return;
                }
            }

            step();
        }
        while (_time.GetElapsedTime(since) < Slice);

        _queue(this);
    }

    private void Enqueue(Action step)
    {
        lock (_gate)
        {
            _waiting.Enqueue(step);
            if (_running >= _most)
            {
                return;
            }

            _running++;
        }

        _queue(this);
    }

    /// <summary>Its own awaiter: what follows is the step.</summary>
    public readonly struct Turn(Turns turns) : ICriticalNotifyCompletion
    {
        /// <summary>Never at once.</summary>
        public bool IsCompleted => false;

        /// <summary>Itself.</summary>
        public Turn GetAwaiter() => this;

        /// <summary>There is none.</summary>
        public void GetResult()
        {
        }

        /// <inheritdoc/>
        public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

        /// <inheritdoc/>
        public void UnsafeOnCompleted(Action continuation) => turns.Enqueue(continuation);
    }
}
