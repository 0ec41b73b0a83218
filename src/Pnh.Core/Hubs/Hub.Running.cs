using Pnh.Core.Events;
using Pnh.Core.Progress;
using Pnh.Core.Push;

namespace Pnh.Core.Hubs;

/// <summary>Start, time and stop.</summary>
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
        _resting = _rest.RunAsync();
    }

    /// <summary>The first half of it: a test lets time pass by itself.</summary>
    internal async Task RecoverAsync(CancellationToken cancellationToken)
    {
        await Rests.LoadAsync(cancellationToken).ConfigureAwait(false);
        _context.Metrics.Ledger.TakeUp(_context.Journal.PendingMail);
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
                    await _takeBack.ClearRestAsync(accepted, progress).ConfigureAwait(false);
                }

                if (unfinished.IsDispatched && accepted.ExpiresAt <= _time.GetUtcNow())
                {
                    // Nothing of it is sent any more, but each delivery has an outcome. One whose dispatch was cut goes the long way: what had not begun
                    // has to be planned to have one, and its timeline stays open until it is noted as dispatched.
                    _dispatcher.EndPast(accepted, progress, new PastDispatch(unfinished), DeliveryState.Expired, null);
                    _context.Close(progress);
                    continue;
                }

                _dispatcher.Begin(progress); // a caller that takes it back waits for it, as for a new one
                await _dispatcher.DispatchPastAsync(accepted, progress, new PastDispatch(unfinished)).ConfigureAwait(false);
                recovered++;
            }
            else
            {
                Log.Unreadable(_log, unfinished.Event.Id, errors[0].Code);
            }
        }

        _isRecovered = true;
        _shards.EndHeld();
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
        await _resting.ConfigureAwait(false);
        await _context.Lanes.DrainAsync(deadline).ConfigureAwait(false);
        await _dispatcher.FanOuts.CloseAsync().WaitAsync(deadline).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
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
        await _resting.ConfigureAwait(false);
        await _dispatcher.FanOuts.CloseAsync().ConfigureAwait(false);
        await _context.Lanes.DisposeAsync().ConfigureAwait(false);
        _context.Ticker.Dispose();
        _registrations.ForEach(r => r.Dispose());
        _stopping.Dispose();
    }

    /// <summary>Does what is due now in all shards; true = a timer is still set.</summary>
    internal bool Advance() => _shards.Advance();
}
