namespace Pnh.Channels.WebSockets;

/// <summary>
/// The look at every connection, once in <see cref="WebSocketServerOptions.SweepInterval"/>, in slices: a ping costs some 30 us, and 5,000 clients that came in one
/// second are pinged in one second for ever after. All at once that kept a thread of the pool, and whoever waited for it, for 180 ms.
/// </summary>
public sealed partial class WebSocketServer
{
    // 8 ms of one core when each of them is pinged.
    private const int SliceConnections = 256;

    // 50 ms each: with 20 ms the wake-ups cost more than the looks.
    private const int MostSlices = 20;

    private IEnumerator<KeyValuePair<Connection, byte>>? _round;
    private int _slices = 1;
    private int _slice;
    private int _sweeping;

    private void Sweep()
    {
        if (Interlocked.Exchange(ref _sweeping, 1) == 1)
        {
            return; // the last one still runs
        }

        try
        {
            LookAtSlice();
            _parts.EndOverdue();
        }
        catch (Exception bug)
        {
            _round = null;
            Log.SweepFailed(_parts.Log, bug); // a timer's exception would end the process
        }
        finally
        {
            Volatile.Write(ref _sweeping, 0);
        }
    }

    private void LookAtSlice()
    {
        var now = _parts.Clock.GetTimestamp();
        var utcNow = _parts.Clock.GetUtcNow();
        if (_round is null)
        {
            _round = _connections.GetEnumerator();
            _slice = 0;
        }

        // The last slice has no end, since more may have come meanwhile.
        var left = ++_slice < _slices ? (Volatile.Read(ref _connected) / _slices) + 1 : int.MaxValue;
        for (; left > 0; left--)
        {
            if (!_round.MoveNext())
            {
                EndRound();
                return;
            }

            // What the enumerator sees may be as old as the round.
            if (!_round.Current.Key.IsForgotten)
            {
                _round.Current.Key.Sweep(now, utcNow, _draining);
            }
        }
    }

    private void EndRound()
    {
        _round!.Dispose();
        _round = null;
        var slices = Math.Clamp(Volatile.Read(ref _connected) / SliceConnections, 1, MostSlices);
        if (slices != _slices)
        {
            _slices = slices;
            _sweep.Change(_parts.Options.SweepInterval / slices, _parts.Options.SweepInterval / slices);
        }
    }
}
