using System.Diagnostics.CodeAnalysis;

namespace Pnh.Channels.Provider.Sender;

/// <summary>
/// Tokens that are cancelled after one time, the same for all of them. A timer per request would cost more than the request's other bookkeeping; as all
/// last equally long they end in the order of their beginning, so one timer on the oldest does. Spent ones are used again. The timer is off
/// while nothing is under way. Thread-safe.
/// </summary>
internal sealed class Deadlines
{
    private readonly Lock _lock = new();
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly long _length;
    private Deadline? _oldest;
    private Deadline? _newest;
    private Deadline? _free;
    private bool _isArmed;

    public Deadlines(TimeSpan length, TimeProvider time)
    {
        Length = length;
        _time = time;
        _length = (long)(length.TotalSeconds * time.TimestampFrequency);
        _timer = time.CreateTimer(static all => ((Deadlines)all!).Sweep(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public TimeSpan Length { get; }

    /// <summary>Begins one; its token is cancelled with <paramref name="cancellationToken"/> too. Give it back by <see cref="End"/>.</summary>
    public Deadline Begin(CancellationToken cancellationToken)
    {
        Deadline deadline;
        lock (_lock)
        {
            deadline = _free ?? new Deadline();
            _free = deadline.Next;
            deadline.At = _time.GetTimestamp() + _length;
            deadline.Next = null;
            deadline.Previous = _newest;
            (_newest is null ? ref _oldest : ref _newest.Next) = deadline;
            _newest = deadline;
            if (!_isArmed)
            {
                Arm(Length);
            }
        }

        deadline.Follow(cancellationToken);
        return deadline;
    }

    /// <summary>True when its time ran out. The token must not be used any more.</summary>
    public bool End(Deadline deadline)
    {
        var isOff = deadline.Unfollow();
        lock (_lock)
        {
            if (deadline.HasPassed)
            {
                return true;
            }

            Remove(deadline);
            if (isOff && deadline.TryReset())
            {
                deadline.Next = _free;
                _free = deadline;
            }

            return false;
        }
    }

    private void Remove(Deadline deadline)
    {
        (deadline.Previous is null ? ref _oldest : ref deadline.Previous.Next) = deadline.Next;
        (deadline.Next is null ? ref _newest : ref deadline.Next.Previous) = deadline.Previous;
    }

    private void Sweep()
    {
        List<Deadline>? passed = null;
        lock (_lock)
        {
            var now = _time.GetTimestamp();
            while (_oldest is { } oldest && oldest.At <= now)
            {
                Remove(oldest);
                oldest.HasPassed = true;
                (passed ??= []).Add(oldest);
            }

            _isArmed = false;
            if (_oldest is not null)
            {
                Arm(_time.GetElapsedTime(now, _oldest.At));
            }
        }

        // Outside the lock: a token runs its callbacks on this thread.
        passed?.ForEach(static deadline => deadline.Cancel());
    }

    /// <summary>Timers count in whole milliseconds and cut the rest off.</summary>
    private void Arm(TimeSpan wait)
    {
        _isArmed = true;
        _timer.Change(TimeSpan.FromMilliseconds(Math.Ceiling(wait.TotalMilliseconds)), Timeout.InfiniteTimeSpan);
    }
}

/// <summary>One running time. Its members but the token are for <see cref="Deadlines"/>.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A token source without a timer of its own and without a link holds nothing to dispose of.")]
internal sealed class Deadline
{
    private readonly CancellationTokenSource _source = new();
    private CancellationTokenRegistration _outer;

    /// <summary>The one that began after it, or the next free one.</summary>
    public Deadline? Next;

    public Deadline? Previous;

    /// <summary>Timestamp of its end.</summary>
    public long At;

    public bool HasPassed;

    /// <summary>Cancelled when the time has run out or the caller cancels.</summary>
    public CancellationToken Token => _source.Token;

    public void Cancel() => _source.Cancel();

    public void Follow(CancellationToken outer) => _outer = outer.UnsafeRegister(static deadline => ((Deadline)deadline!).Cancel(), this);

    /// <summary>False when the caller's cancellation came, or is coming now: it must not serve again.</summary>
    public bool Unfollow()
    {
        var isOff = _outer == default || _outer.Unregister();
        _outer = default;
        return isOff;
    }

    /// <summary>True when it was not cancelled; a listener that is left on the token hears nothing of its next use.</summary>
    public bool TryReset() => _source.TryReset();
}
