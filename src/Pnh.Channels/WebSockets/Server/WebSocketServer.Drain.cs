using Pnh.Channels.WebSockets.Protocol;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>The end of the process, spread out so that the clients' return does not become a storm.</summary>
public sealed partial class WebSocketServer
{
    /// <summary>Steps of a drain: enough to be smooth, few enough to cost nothing.</summary>
    private static readonly TimeSpan DrainStep = TimeSpan.FromMilliseconds(50);

    // A client comes back within the first, and its session is given away within the second.
    private static readonly TimeSpan ReturnWithin = TimeSpan.FromMilliseconds(200);
    private static readonly TimeSpan TakenWithin = TimeSpan.FromSeconds(5);

    /// <summary>
    /// Takes no new sessions, and over <paramref name="window"/> tells each client to come back after a random part of the window, then closes
    /// it with <see cref="SessionClose.Drain"/>. Completes when all are gone, at the latest the window plus
    /// <see cref="WebSocketServerOptions.CloseTimeout"/> later; those left are aborted. Cancelling skips the pacing and the wait.
    /// </summary>
    public Task DrainAsync(TimeSpan window, CancellationToken cancellationToken = default)
    {
        EndLingering();
        return SendAwayAsync(window, isHandOver: false, cancellationToken);
    }

    /// <summary>
    /// The same at a node whose sessions other nodes can take: clients are told to resume, at once, and their sessions wait here for the node that asks for them
    /// (<see cref="ISessionLink.SurrenderAsync"/>). Those that nobody has asked for some seconds after the last client was told have ended then.
    /// </summary>
    public async Task HandOverAsync(TimeSpan window, CancellationToken cancellationToken = default)
    {
        await SendAwayAsync(window, isHandOver: true, cancellationToken);
        EndLingering();
    }

    private async Task SendAwayAsync(TimeSpan window, bool isHandOver, CancellationToken cancellationToken)
    {
        _draining = true;
        var waiting = _connections.All().ToArray();
        Log.Draining(_parts.Log, waiting.Length, window);
        try
        {
            await CloseEachAsync(waiting, window, isHandOver, cancellationToken);
            await WaitForAsync(() => _connections.Count == 0, _parts.Options.CloseTimeout, cancellationToken);
            await WaitForAsync(() => !isHandOver || KnownSessions == 0, TakenWithin, cancellationToken);
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

    private async Task CloseEachAsync(Connection[] connections, TimeSpan window, bool isHandOver, CancellationToken cancellationToken)
    {
        // Full jitter: clients of a node that is alone spread themselves over the window once more. Other nodes are there already: the pace of the closes is enough.
        var (reason, longest) = isHandOver ? (SessionClose.HandOver, ReturnWithin) : (SessionClose.Drain, window);
        var steps = Math.Max(1, (int)(window / DrainStep));
        var closed = 0;
        for (var step = 1; step <= steps && closed < connections.Length; step++)
        {
            for (var until = (int)((long)connections.Length * step / steps); closed < until; closed++)
            {
                connections[closed].SendControl(ControlFrames.Drain(longest * Random.Shared.NextDouble(), resume: isHandOver));
                connections[closed].Close(reason);
            }

            if (closed < connections.Length)
            {
                await Task.Delay(DrainStep, _parts.Clock, cancellationToken);
            }
        }
    }

    private async Task WaitForAsync(Func<bool> isDone, TimeSpan patience, CancellationToken cancellationToken)
    {
        var started = _parts.Clock.GetTimestamp();
        while (!isDone() && _parts.Clock.GetElapsedTime(started) < patience)
        {
            await Task.Delay(DrainStep, _parts.Clock, cancellationToken);
        }
    }
}
