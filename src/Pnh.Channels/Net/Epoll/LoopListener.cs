using System.Net;
using System.Net.Sockets;
using Microsoft.Extensions.Logging;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// A listening socket on a loop. Accepts at most so many connections a second: the rest waits in the kernel, so that a storm of reconnects
/// takes a bounded share of the loop and costs no memory. The loop's own but for <see cref="Dispose"/>.
/// </summary>
internal sealed partial class LoopListener : IDisposable
{
    /// <summary>Accepted in one turn: others of the loop come next. An accept costs some 10 µs with what follows.</summary>
    private const int PerTurn = 64;

    private static readonly TimeSpan Rest = TimeSpan.FromMilliseconds(10);

    private readonly Socket _socket;
    private readonly SocketLoops _loops;
    private readonly SocketLoop _loop;
    private readonly Func<ILoopClient> _create;
    private readonly ConnectionBudget _budget;
    private readonly int _perRest;
    private readonly TimeProvider _clock;
    private readonly ILogger _log;
    private OncePerSecond _tooMany;
    private int _left;
    private long _since;
    private bool _isWaiting;
    private bool _isPaused;
    private bool _isClosed;

    public LoopListener(
        Socket socket, SocketLoops loops, SocketLoop loop, Func<ILoopClient> create, ConnectionBudget budget, int perSecond, TimeProvider clock, ILogger log)
    {
        _budget = budget;
        _tooMany = new OncePerSecond(clock);
        _socket = socket;
        _loops = loops;
        _loop = loop;
        _create = create;
        _perRest = Math.Max(1, (int)(perSecond * Rest.TotalSeconds));
        _left = _perRest;
        _clock = clock;
        _log = log;
        Descriptor = (int)socket.Handle;
        EndPoint = (IPEndPoint)socket.LocalEndPoint!;
    }

    /// <summary>The descriptor.</summary>
    public int Descriptor { get; }

    /// <summary>Where it listens.</summary>
    public IPEndPoint EndPoint { get; }

    /// <summary>Milliseconds after which the loop should look at it; -1 = whenever somebody comes.</summary>
    public int Pause => _isPaused && !_isClosed ? (int)Rest.TotalMilliseconds : -1;

    /// <summary>Waits for connections; when the system does not let it, a pause later.</summary>
    public void Resume()
    {
        if (!_isClosed && !_isWaiting)
        {
            _isWaiting = Syscalls.Control(_loop.Epoll, Syscalls.EpollAdd, Descriptor, Syscalls.EpollIn) >= 0;
            _isPaused = !_isWaiting;
        }
    }

    /// <summary>Goes on when a pause is over.</summary>
    public void ResumeIfDue()
    {
        if (_isPaused && _clock.GetElapsedTime(_since) >= Rest)
        {
            Resume();
        }
    }

    /// <summary>Takes who waits, within the rate.</summary>
    public void AcceptWaiting()
    {
        if (_clock.GetElapsedTime(_since) >= Rest)
        {
            _since = _clock.GetTimestamp();
            _left = _perRest;
        }

        for (var turn = 0; turn < PerTurn; turn++)
        {
            if (_left == 0)
            {
                Stop();
                return;
            }

            var accepted = Syscalls.Accept(Descriptor);
            if (accepted >= 0)
            {
                _left--;
                if (!TryTake(accepted))
                {
                    return; // those who were asked to make room go at the end of the turn, and the next one is here at once
                }

                continue;
            }

            if (Syscalls.Errno is Syscalls.TooManyFiles or Syscalls.TooManyFilesInSystem)
            {
                if (_tooMany.IsDue(out var times))
                {
                    Log.TooManyFiles(_log, times);
                }

                Stop(); // else it would be ready, in vain, at once again
            }

            if (Syscalls.Errno is not (Syscalls.ConnectionAborted or Syscalls.Interrupted))
            {
                return;
            }
        }
    }

    /// <summary>Closes the listening socket; who waits in the kernel is refused. Thread-safe.</summary>
    public void Dispose()
    {
        if (!_loop.IsCurrent)
        {
            _loop.Post(Dispose);
            return;
        }

        if (!_isClosed)
        {
            Stop();
            _isClosed = true;
            _loop.Forget(this);
            _socket.Dispose();
        }
    }

    private bool TryTake(int accepted)
    {
        var address = _budget.PerAddress > 0 ? PeerAddress.KeyOf(accepted) : 0;
        if (!_budget.TryEnter(accepted, address))
        {
            Syscalls.ResetOnClose(accepted); // the kernel keeps nothing of it
            _ = Syscalls.Close(accepted);
            return false;
        }

        var loop = _loops.Next();
        loop.Add(new LoopSocket(loop, accepted, _create(), _budget, address));
        return true;
    }

    private void Stop()
    {
        if (_isWaiting)
        {
            _ = Syscalls.Control(_loop.Epoll, Syscalls.EpollDelete, Descriptor, 0);
            _isWaiting = false;
        }

        _isPaused = true;
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Warning, "No connection can be accepted: the process has as many files open as it may ({Times} since the last line).", EventName = "TooManyFiles")]
        public static partial void TooManyFiles(ILogger logger, long times);
    }
}
