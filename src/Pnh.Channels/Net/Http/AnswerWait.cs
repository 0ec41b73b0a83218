using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;

namespace Pnh.Channels.Net.Http;

/// <summary>
/// Waits for a request's answer until its attempt's time is over. The request goes on past that: giving it up would not take it back, and its answer says whether
/// anybody has seen it. Serves one request after another, and allocates nothing for one that is answered in time.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "A token source without a timer of its own and without a link holds nothing to dispose of.")]
internal sealed class AnswerWait : IValueTaskSource<bool>, IThreadPoolWorkItem
{
    private const int Nobody = 0;
    private const int Answered = 1;
    private const int OutOfTime = 2;
    private readonly CancellationTokenSource _stop = new();
    private readonly Action _onAnswer;
    private ManualResetValueTaskSourceCore<bool> _core;
    private ConfiguredValueTaskAwaitable<ProviderAnswer>.ConfiguredValueTaskAwaiter _answer;
    private CancellationTokenRegistration _deadline;
    private TaskCompletionSource? _late;
    private int _first;

    public AnswerWait() => _onAnswer = OnAnswer;

    /// <summary>The next free one.</summary>
    public AnswerWait? Next { get; set; }

    /// <summary>
    /// Sends the request. True = answered, <see cref="Take"/> has it; false = <paramref name="deadline"/> was cancelled first, and the request is still under way:
    /// <see cref="LateAsync"/> has to be called. Throws <see cref="OperationCanceledException"/>, and sends nothing, when it was cancelled before.
    /// </summary>
    [SuppressMessage("Reliability", "CA2012", Justification = "Its awaiter is asked once, when it has completed.")]
    public ValueTask<bool> SendAsync(IProviderConnection connection, in ProviderRequest request, CancellationToken deadline)
    {
        if (deadline.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<bool>(deadline);
        }

        _first = Nobody;
        _answer = connection.SendAsync(request, _stop.Token).ConfigureAwait(false).GetAwaiter();
        if (_answer.IsCompleted)
        {
            return ValueTask.FromResult(true);
        }

        var task = new ValueTask<bool>(this, _core.Version);
        _deadline = deadline.UnsafeRegister(static wait => ((AnswerWait)wait!).OnDeadline(), this);
        _answer.UnsafeOnCompleted(_onAnswer);
        return task;
    }

    /// <summary>The answer; once.</summary>
    [SuppressMessage("Usage", "VSTHRD002", Justification = "It has completed.")]
    public ProviderAnswer Take() => _answer.GetResult();

    /// <summary>
    /// After the deadline: waits so much longer, then ends the request. Throws <see cref="OperationCanceledException"/> when no answer came until then, or
    /// until <paramref name="cancellationToken"/> was cancelled.
    /// </summary>
    public async Task<ProviderAnswer> LateAsync(TimeSpan longer, TimeProvider time, CancellationToken cancellationToken)
    {
        try
        {
            await _late!.Task.WaitAsync(longer, time, cancellationToken);
        }
        catch (Exception over) when (over is TimeoutException or OperationCanceledException)
        {
            await StopAsync();
        }

        return Take();
    }

    /// <summary>After the deadline: ends the request now, unless it was answered meanwhile. <see cref="LateAsync"/> says which, at once.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync();
        await _late!.Task;
    }

    /// <summary>True when it may serve again: nobody else looks at it any more.</summary>
    public bool TryReset()
    {
        var isFree = _deadline == default || _deadline.Unregister();
        _deadline = default;
        _answer = default;
        return isFree;
    }

    bool IValueTaskSource<bool>.GetResult(short token)
    {
        var isAnswered = _core.GetResult(token);
        _core.Reset();
        return isAnswered;
    }

    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _core.GetStatus(token);

    void IValueTaskSource<bool>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _core.OnCompleted(continuation, state, token, flags);

    /// <summary>Off the timer's thread, which has the other deadlines to see to.</summary>
    void IThreadPoolWorkItem.Execute() => _core.SetResult(false);

    private void OnAnswer()
    {
        if (Interlocked.CompareExchange(ref _first, Answered, Nobody) == Nobody)
        {
            _core.SetResult(true);
        }
        else
        {
            _late!.TrySetResult();
        }
    }

    private void OnDeadline()
    {
        // Before the exchange, so that an answer that comes after it finds it.
        _late = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (Interlocked.CompareExchange(ref _first, OutOfTime, Nobody) == Nobody)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }
}

/// <summary>Those of a sender that wait for their next request. Thread-safe.</summary>
internal sealed class AnswerWaits
{
    private readonly Lock _lock = new();
    private AnswerWait? _free;

    public AnswerWait Rent()
    {
        lock (_lock)
        {
            if (_free is { } wait)
            {
                _free = wait.Next;
                return wait;
            }
        }

        return new AnswerWait();
    }

    public void Return(AnswerWait wait)
    {
        if (wait.TryReset())
        {
            lock (_lock)
            {
                wait.Next = _free;
                _free = wait;
            }
        }
    }
}
