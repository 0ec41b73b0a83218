using Pnh.Core.Diagnostics;
using Pnh.Core.Events;
using Pnh.Core.Push;

namespace Pnh.Core.Lanes;

/// <summary>
/// The bounded queue and the workers of one provider account and class. Workers start when there is work and end when there is none,
/// at most <see cref="IPushSender.MaxInFlight"/> of them, so an idle lane holds no task. Thread-safe; never waits.
/// </summary>
internal sealed partial class DeliveryLane : IAsyncDisposable
{
    // 64k deliveries of one account and class: some 10 MB; past that the shard tries again later, nothing is dropped.
    private const int Capacity = 65_536;
    private static readonly TimeSpan QuarantineFullDelay = TimeSpan.FromSeconds(30);
    private readonly Queue<Delivery> _queue = new();
    private readonly Lock _gate = new();
    private readonly IPushSender _sender;
    private readonly ILaneOwner _owner;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _stopping = new();
    private readonly IDisposable _registration;
    private readonly DeliveryLane? _quarantine;
    private readonly BulkPace? _pace;
    private bool _closed;
    private int _workers;

    // Requests whose answers are late, and which have no worker any more.
    private int _late;
    private TaskCompletionSource? _idle;

    // The pace bounds the sends under way besides the sender; null = nothing does.
    internal DeliveryLane(
        string channel, string account, EventClass @class, IPushSender sender, ILaneOwner owner, HubMetrics metrics, TimeProvider time, BulkPace? pace = null)
        : this((channel, account), channel, @class, sender, owner, metrics, time, pace)
    {
        if (sender.Quarantine is { } slow)
        {
            _quarantine = new DeliveryLane((channel, account), channel + "-quarantine", @class, slow, owner, metrics, time, pace);
        }
    }

    private DeliveryLane(
        (string Channel, string Account) way, string queue, EventClass @class, IPushSender sender, ILaneOwner owner, HubMetrics metrics, TimeProvider time, BulkPace? pace)
    {
        (Channel, Account) = way;
        _sender = sender;
        _owner = owner;
        _time = time;
        _pace = pace;
        _registration = metrics.RegisterQueue(queue, @class, () => Length, () => OldestAgeSeconds);
    }

    /// <summary>The channel's name.</summary>
    internal string Channel { get; }

    /// <summary>The provider account that it sends by, as <see cref="IPushChannel.FindAccount"/> names it.</summary>
    internal string Account { get; }

    /// <summary>True when nothing waits and nothing is under way.</summary>
    internal bool IsIdle
    {
        get
        {
            lock (_gate)
            {
                return _workers == 0 && _late == 0 && _queue.Count == 0 && _quarantine is not { IsIdle: false };
            }
        }
    }

    /// <summary>How many wait in it.</summary>
    internal long Length
    {
        get
        {
            lock (_gate)
            {
                return _queue.Count;
            }
        }
    }

    private double OldestAgeSeconds
    {
        get
        {
            lock (_gate)
            {
                return _queue.TryPeek(out var oldest) ? _time.GetElapsedTime(oldest.QueuedTimestamp).TotalSeconds : 0;
            }
        }
    }

    /// <summary>Takes the delivery; false when the lane is full or closed.</summary>
    internal bool TryEnqueue(Delivery delivery)
    {
        lock (_gate)
        {
            if (_queue.Count >= Capacity || _closed)
            {
                return false;
            }

            delivery.QueuedTimestamp = _time.GetTimestamp();
            _queue.Enqueue(delivery);
            _pace?.Queued(1);
            if (!HasRoom())
            {
                return true;
            }

            _workers++;
        }

        StartWorker();
        return true;
    }

    /// <summary>Takes nothing more; waits for what is under way until <paramref name="deadline"/> is cancelled, then cancels it.</summary>
    internal async Task DrainAsync(CancellationToken deadline)
    {
        var idle = _quarantine is null ? CloseAsync() : Task.WhenAll(CloseAsync(), _quarantine.DrainAsync(deadline));
        try
        {
            await idle.WaitAsync(deadline).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await _stopping.CancelAsync().ConfigureAwait(false);
        }
    }

    public async ValueTask DisposeAsync()
    {
        // The workers go first: a sender must not be taken from under a send.
        var idle = CloseAsync();
        await _stopping.CancelAsync().ConfigureAwait(false);
        await idle.ConfigureAwait(false);
        if (_quarantine is not null)
        {
            await _quarantine.DisposeAsync().ConfigureAwait(false);
        }

        _registration.Dispose();
        await _sender.DisposeAsync().ConfigureAwait(false);
        _stopping.Dispose();
    }

    // Empties the queue for good; completes when the last worker has ended.
    private Task CloseAsync()
    {
        lock (_gate)
        {
            _closed = true;
            _pace?.Taken(_queue.Count);
            _queue.Clear();
            if (_workers == 0 && _late == 0)
            {
                return Task.CompletedTask;
            }

            _idle ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _idle.Task;
        }
    }

    private async Task WorkAsync()
    {
        if (_pace is not null)
        {
            await _pace.Turns.NextAsync();
        }

        while (TryTake(out var delivery))
        {
            if (delivery.IsSettled)
            {
                continue;
            }

            try
            {
                if (_quarantine is not null && _sender.Suspects(delivery))
                {
                    Divert(delivery);
                    continue;
                }

                if (!await _owner.PrepareAsync(this, delivery).ConfigureAwait(false))
                {
                    continue;
                }

                var result = delivery.IsTooLate(_time)
                    ? DeliveryResult.Of(DeliveryStatus.Expired)
                    : await _sender.SendAsync(delivery, _stopping.Token).ConfigureAwait(false);
                if (_pace is not null)
                {
                    await _pace.Turns.NextAsync();
                }

                if (result.Late is null)
                {
                    _owner.Completed(this, delivery, result);
                }
                else
                {
                    BeginLate();
                    _ = FollowLateAsync(delivery, result);
                }
            }
            catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
            {
                // The hub stops: the journal holds it.
            }
            catch (Exception bug)
            {
                // A sender answers with values; anything thrown is a bug of ours, and must not end the lane.
                _owner.Failed(this, delivery, bug);
            }
        }
    }

    // Under the lock.
    private void EndWhenIdle()
    {
        if (_workers == 0 && _late == 0)
        {
            _idle?.TrySetResult();
        }
    }

    // A list of bad addresses waits for itself, not the good ones for it.
    private void Divert(Delivery delivery)
    {
        if (!_quarantine!.TryEnqueue(delivery))
        {
            _owner.Completed(this, delivery, new DeliveryResult
            {
                Status = DeliveryStatus.Unavailable,
                Reason = "quarantine-full",
                RetryAfter = QuarantineFullDelay,
                IsUnasked = true,
            });
        }
    }

    private bool TryTake([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out Delivery? delivery)
    {
        lock (_gate)
        {
            // The width may have narrowed since the worker began, or widened: each worker starts one more, then.
            if ((_pace is null || _workers <= _pace.Width) && _queue.TryDequeue(out delivery))
            {
                _pace?.Taken(1);
                if (_pace is null || _queue.Count == 0 || !HasRoom())
                {
                    return true;
                }

                _workers++;
            }
            else
            {
                delivery = null;
                _workers--;
                EndWhenIdle();

                return false;
            }
        }

        StartWorker();
        return true;
    }

    // Under the lock.
    private bool HasRoom()
    {
        if (_pace is not null && _workers >= _pace.Width)
        {
            _pace.UsedUp();
            return false;
        }

        return _workers < _sender.MaxInFlight;
    }

    // On the pool: the caller may hold a shard.
    private void StartWorker() => ThreadPool.UnsafeQueueUserWorkItem(static lane => _ = lane.WorkAsync(), this, preferLocal: false);
}
