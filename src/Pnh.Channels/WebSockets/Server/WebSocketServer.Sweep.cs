using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Timing;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// The look at every connection whose time has come, once in <see cref="WebSocketServerOptions.SweepInterval"/>, in slices: a ping costs some 30 us, and 5,000 clients that came in one
/// second are pinged in one second for ever after. All at once that kept a thread of the pool, and the work behind it, for 180 ms.
/// </summary>
public sealed partial class WebSocketServer
{
    // 8 ms of one core when each of them is pinged.
    private const int SliceConnections = 256;

    // 50 ms each: with 20 ms the wake-ups cost more than the looks.
    private const int MostSlices = 20;

    private int _place;
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
            Log.SweepFailed(_parts.Log, bug); // a timer's exception would end the process; the next slice goes on behind that connection
        }
        finally
        {
            Volatile.Write(ref _sweeping, 0);
        }
    }

    private void LookAtSlice()
    {
        var now = _parts.Clock.GetTimestamp();
        var utcNow = SteadyClock.WallOf(_parts.Clock).GetUtcNow(); // tokens end by it
        var due = _stopping.IsCancellationRequested ? long.MaxValue : now;

        // The last slice has no end, since more may have come meanwhile.
        for (var left = ++_slice < _slices ? (_connections.Places / _slices) + 1 : int.MaxValue; left > 0; left--)
        {
            if (_place == _connections.Places)
            {
                EndRound();
                return;
            }

            _connections.FindDue(_place++, due)?.Sweep(now, utcNow, _draining);
        }
    }

    private void EndRound()
    {
        _connections.EndRound();
        _place = 0;
        _slice = 0;
        var slices = Math.Clamp(_connections.Count / SliceConnections, 1, MostSlices);
        if (slices != _slices)
        {
            _slices = slices;
            _sweep.Change(_parts.Options.SweepInterval / slices, _parts.Options.SweepInterval / slices);
        }
    }
}
