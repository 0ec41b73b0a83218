using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>The end of the process, spread out so that the clients' return does not become a storm.</summary>
public sealed partial class WebSocketServer
{
    /// <summary>Steps of a drain: enough to be smooth, few enough to cost nothing.</summary>
    private static readonly TimeSpan DrainStep = TimeSpan.FromMilliseconds(50);

    /// <summary>
    /// Takes no new sessions, and over <paramref name="window"/> tells each client to come back after a random part of the window, then closes
    /// it with <see cref="SessionClose.Drain"/>. Completes when all are gone, at the latest the window plus
    /// <see cref="WebSocketServerOptions.CloseTimeout"/> later; those left are aborted. Cancelling skips the pacing and the wait.
    /// </summary>
    public async Task DrainAsync(TimeSpan window, CancellationToken cancellationToken = default)
    {
        _draining = true;
        EndLingering();
        var waiting = _connections.All().ToArray();
        Log.Draining(_parts.Log, waiting.Length, window);
        try
        {
            await CloseEachAsync(waiting, window, cancellationToken);
            await WaitForAllAsync(cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // A second signal, or the host's patience is over: what follows is quick.
        }

        var left = 0;
        foreach (var connection in _connections.All())
        {
            left++;
            connection.Close(SessionClose.Drain);
            connection.Abort();
        }

        Log.Drained(_parts.Log, left);
    }

    private async Task CloseEachAsync(Connection[] connections, TimeSpan window, CancellationToken cancellationToken)
    {
        var steps = Math.Max(1, (int)(window / DrainStep));
        var closed = 0;
        for (var step = 1; step <= steps && closed < connections.Length; step++)
        {
            for (var until = (int)((long)connections.Length * step / steps); closed < until; closed++)
            {
                // Full jitter: the clients spread themselves over the window once more.
                connections[closed].SendControl(ControlFrames.Drain(window * Random.Shared.NextDouble()));
                connections[closed].Close(SessionClose.Drain);
            }

            if (closed < connections.Length)
            {
                await Task.Delay(DrainStep, _parts.Clock, cancellationToken);
            }
        }
    }

    private async Task WaitForAllAsync(CancellationToken cancellationToken)
    {
        var started = _parts.Clock.GetTimestamp();
        while (_connections.Count > 0 && _parts.Clock.GetElapsedTime(started) < _parts.Options.CloseTimeout)
        {
            await Task.Delay(DrainStep, _parts.Clock, cancellationToken);
        }
    }
}
