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
        await new EventRecovery(_context, _dispatcher, _takeBack, _loader, _log).RunAsync(cancellationToken).ConfigureAwait(false);
        _isRecovered = true;
        _shards.EndHeld();
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
