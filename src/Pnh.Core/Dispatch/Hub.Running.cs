using Pnh.Core.Events;
using Pnh.Core.Lanes;
using Pnh.Core.Push;
using Pnh.Core.Shards;

namespace Pnh.Core.Dispatch;

/// <summary>Start, time and stop, and what lanes report.</summary>
public sealed partial class Hub
{
    /// <summary>
    /// Takes up what the previous process left unfinished, ends what expired meanwhile, then lets time pass. Events whose stored body cannot be read any more, or whose
    /// dispatch breaks, are reported and left alone. Call once, before the first event.
    /// </summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await RecoverAsync(cancellationToken).ConfigureAwait(false);
        _ticking = _context.Ticker.RunAsync(Advance, _stopping.Token);
    }

    /// <summary>The first half of it: a test lets time pass by itself.</summary>
    internal async Task RecoverAsync(CancellationToken cancellationToken)
    {
        await Rests.LoadAsync(cancellationToken).ConfigureAwait(false);
        var recovered = 0;
        var errors = new List<FieldError>();
        await foreach (var unfinished in _context.Journal.RecoverAsync(cancellationToken).ConfigureAwait(false))
        {
            errors.Clear();
            if (_loader.Read(unfinished.Event, errors) is { } accepted)
            {
                var progress = new EventProgress(accepted, _context.Metrics.Ledger.Of(accepted.App));
                if (unfinished.Withdrawn.Count > 0)
                {
                    progress.Add();
                    await ClearRestAsync(accepted, progress).ConfigureAwait(false);
                }

                if (unfinished.IsDispatched && accepted.ExpiresAt <= _time.GetUtcNow())
                {
                    // Nothing of it is sent any more, but each delivery has an outcome. One whose dispatch was cut goes the long way: what had not begun
                    // has to be planned to have one, and its timeline stays open until it is noted as dispatched.
                    EndPast(accepted, progress, new PastDispatch(unfinished), DeliveryState.Expired, null);
                    _context.Close(progress);
                    continue;
                }

                _dispatching.Add(progress); // a caller that takes it back waits for it, as for a new one
                await DispatchAsync(accepted, progress, new PastDispatch(unfinished)).ConfigureAwait(false);
                recovered++;
            }
            else
            {
                Log.Unreadable(_log, unfinished.Event.Id, errors[0].Code);
            }
        }

        _isRecovered = true;
        foreach (var shard in _shards)
        {
            shard.EndHeld();
        }

        if (recovered > 0)
        {
            Log.Started(_log, recovered);
        }
    }

    /// <summary>
    /// Takes no more events, waits for provider requests under way until <paramref name="deadline"/> is cancelled; what still waits is in
    /// the journal and goes on at the next start.
    /// </summary>
    public async Task StopAsync(CancellationToken deadline)
    {
        await _stopping.CancelAsync().ConfigureAwait(false);
        await _ticking.ConfigureAwait(false);
        await _context.Lanes.DrainAsync(deadline).ConfigureAwait(false);
        await _fanOuts.CloseAsync().WaitAsync(deadline).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>Stops what <see cref="StopAsync"/> left. A second call does nothing: a container disposes once per service type.</summary>
    public async ValueTask DisposeAsync()
    {
        if (Interlocked.Exchange(ref _disposed, true))
        {
            return;
        }

        await _stopping.CancelAsync().ConfigureAwait(false);
        await _ticking.ConfigureAwait(false);
        await _fanOuts.CloseAsync().ConfigureAwait(false);
        await _context.Lanes.DisposeAsync().ConfigureAwait(false);
        _context.Ticker.Dispose();
        _registrations.ForEach(r => r.Dispose());
        _stopping.Dispose();
    }

    void ILaneOwner.Completed(DeliveryLane lane, Delivery delivery, in DeliveryResult answer)
    {
        var @class = delivery.Event.Class;
        var result = Rests.Judge(lane.Channel, lane.Account, delivery, answer);
        if (result.Status != DeliveryStatus.Expired)
        {
            // An expiry is counted where the delivery ends, whether it waited in a lane or not.
            _context.Metrics.DeliveryCounted(lane.Channel, @class, result.Status);
        }

        if (result.Status == DeliveryStatus.Accepted && delivery.Withdrawal is null)
        {
            _context.Metrics.AcceptToProvider(lane.Channel, @class, _time.GetElapsedTime(delivery.Event.AcceptedTimestamp), delivery.Event.TraceParent);
            EventTraces.Pushed(delivery.Event, lane.Channel, _time);
        }

        if (result is { Status: DeliveryStatus.Rejected } or { Status: DeliveryStatus.Misconfigured, RetryAfter: null })
        {
            Log.Refused(_paced, lane.Channel, delivery.Event.Id, delivery.User.App, result.Reason);
        }

        ShardOf(delivery.User).Complete((PendingPush)delivery, result);
    }

    void ILaneOwner.AnswerIsLate(DeliveryLane lane, Delivery delivery, in DeliveryResult soFar) => ShardOf(delivery.User).AnswerIsLate((PendingPush)delivery, soFar);

    void ILaneOwner.Failed(DeliveryLane lane, Delivery delivery, Exception bug)
    {
        Log.SenderBroke(_paced, lane.Channel, delivery.Event.Id, delivery.User.App, bug);
        _context.Metrics.DeliveryCounted(lane.Channel, delivery.Event.Class, DeliveryStatus.Rejected);
        ShardOf(delivery.User).Complete((PendingPush)delivery, DeliveryResult.Of(DeliveryStatus.Rejected, "hub-error"));
    }

    /// <summary>Does what is due now in all shards; true = a timer is still set.</summary>
    internal bool Advance()
    {
        var isSet = false;
        foreach (var shard in _shards)
        {
            try
            {
                isSet |= shard.Advance();
            }
            catch (Exception bug)
            {
                // Without the tick no timer of any shard would fire again, and nobody would see why.
                Log.TickBroke(_log, bug);
                isSet = true;
            }
        }

        return isSet;
    }

    // Every publisher hears of it; the log gets a line every 5 s, because a full disk may be the one that the log is on.
    private void NoteRefusals(string fault)
    {
        if (IsDue(ref _refusalsAt))
        {
            Log.StoreUnavailable(_log, fault);
        }
    }

    // Nobody is refused for it.
    private void NoteStoreFault(string fault)
    {
        if (IsDue(ref _storeFaultAt))
        {
            Log.StoreAwaited(_log, fault);
        }
    }

    private bool IsDue(ref long saidAt)
    {
        var last = Volatile.Read(ref saidAt);
        return (last == 0 || _time.GetElapsedTime(last) > StoreFaultEvery) && Interlocked.CompareExchange(ref saidAt, _time.GetTimestamp(), last) == last;
    }
}
