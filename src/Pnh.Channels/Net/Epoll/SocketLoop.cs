using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;
using Pnh.Core.Threads;

namespace Pnh.Channels.Net.Epoll;

/// <summary>What another thread may ask of a loop for one of its connections.</summary>
internal enum LoopWork
{
    /// <summary>Serve it from now on.</summary>
    Add,

    /// <summary>Give its client again what was left over, then read.</summary>
    Resume,

    /// <summary>Close it.</summary>
    Close,
}

/// <summary>
/// One thread that waits for many connections with epoll and calls their clients. Level-triggered: what one turn leaves unread is there in the
/// next, so a busy connection takes 64 kB a turn and the others come next. One receive buffer serves all its connections.
/// </summary>
internal sealed unsafe partial class SocketLoop : IDisposable
{
    /// <summary>Read from one connection in one turn; larger than what most peers send at once, so a second call is rare.</summary>
    private const int ReceiveBytes = 64 * 1024;

    /// <summary>Connections that one wait may report. Further ones come with the next, some hundred microseconds later.</summary>
    private const int BatchSize = 512;

    private readonly ConcurrentQueue<(LoopSocket? Socket, LoopWork Work, Action? Call)> _posted = new();
    private readonly byte[] _buffer = GC.AllocateUninitializedArray<byte>(ReceiveBytes, pinned: true);
    private readonly byte[] _records = GC.AllocateArray<byte>(BatchSize * EpollRecord.Size, pinned: true);
    private readonly TimeProvider _clock;
    private readonly ILogger _log;
    private readonly Thread _thread;
    private readonly int _event;
    private readonly Lock _signaling = new();
    private LoopSocket?[] _sockets = new LoopSocket?[1024];
    private readonly List<LoopListener> _listeners = [];
    private long _turnBegan;
    private long _longestTurn;
    private int _count;
    private int _signaled;
    private volatile bool _stopping;
    private bool _hasEnded;

    public SocketLoop(string name, TimeProvider clock, ILogger log)
    {
        _clock = clock;
        _log = log;
        Epoll = Syscalls.CreateEpoll();
        _event = Syscalls.CreateEvent();
        if (Epoll < 0 || _event < 0 || Syscalls.Control(Epoll, Syscalls.EpollAdd, _event, Syscalls.EpollIn) < 0)
        {
            throw new IOException($"The system gives no epoll: error {Syscalls.Errno}.");
        }

        _thread = new Thread(Run) { IsBackground = true, Name = name };
        _thread.Start();
    }

    /// <summary>Connections that it serves.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>True on the loop's own thread.</summary>
    public bool IsCurrent => ReferenceEquals(Thread.CurrentThread, _thread);

    /// <summary>epoll's descriptor, for the connections.</summary>
    internal int Epoll { get; }

    /// <summary>
    /// How long bytes that arrive wait for the loop: the longest turn since the last question, the present one included. For one asker.
    /// </summary>
    public TimeSpan TakeLongestTurn()
    {
        var longest = Interlocked.Exchange(ref _longestTurn, 0);
        var began = Volatile.Read(ref _turnBegan);
        return _clock.GetElapsedTime(0, Math.Max(longest, began == 0 ? 0 : _clock.GetTimestamp() - began));
    }

    /// <summary>Serves a connection from its next turn on.</summary>
    public void Add(LoopSocket socket) => Post(socket, LoopWork.Add);

    /// <summary>Calls the action on the loop's thread, after what was posted before. It must not wait and must not throw.</summary>
    public void Post(Action call) => Post((null, default, call));

    /// <summary>Ends the thread and closes what is still open; their clients are told.</summary>
    public void Dispose()
    {
        _stopping = true;
        Signal();
        if (!IsCurrent)
        {
            _thread.Join();
        }
    }

    internal void Post(LoopSocket socket, LoopWork work) => Post((socket, work, null));

    /// <summary>Accepts for the listener from now on.</summary>
    internal void Listen(LoopListener listener) => Post(() =>
    {
        _listeners.Add(listener);
        listener.Resume();
    });

    /// <summary>The loop's thread: accepts for it no more.</summary>
    internal void Forget(LoopListener listener) => _listeners.Remove(listener);

    /// <summary>By the loop's thread: the descriptor no longer belongs to it.</summary>
    internal void Forget(int descriptor)
    {
        if (descriptor < _sockets.Length && _sockets[descriptor] is not null)
        {
            _sockets[descriptor] = null;
            Volatile.Write(ref _count, _count - 1);
            _ = Syscalls.Control(Epoll, Syscalls.EpollDelete, descriptor, 0);
        }
    }

    private void Post((LoopSocket?, LoopWork, Action?) work)
    {
        _posted.Enqueue(work);
        if (!IsCurrent)
        {
            Signal();
        }
    }

    private void Signal()
    {
        if (Interlocked.Exchange(ref _signaled, 1) == 0)
        {
            // Who comes after the end must not write into a connection that got the descriptor's number.
            lock (_signaling)
            {
                var one = 1UL;
                _ = _hasEnded ? 0 : Syscalls.Write(_event, &one, sizeof(ulong));
            }
        }
    }

    private void Run()
    {
        _ = ShortSlice.Take();
        var batch = new BatchWhileBusy(_clock.TimestampFrequency);
        fixed (byte* records = _records)
        {
            while (!_stopping)
            {
                var isPosted = !_posted.IsEmpty;
                var ready = Syscalls.Wait(Epoll, records, BatchSize, isPosted ? 0 : Patience(batch.IsOn));
                Volatile.Write(ref _turnBegan, _clock.GetTimestamp());
                batch.Found(Math.Max(ready, 0) + (isPosted ? 1 : 0), _turnBegan);
                for (var i = 0; i < ready; i++)
                {
                    Serve(records + (i * EpollRecord.Size));
                }

                foreach (var listener in _listeners)
                {
                    listener.ResumeIfDue();
                }

                WorkPosted();
                EndTurn();
            }
        }

        CloseAll();
    }

    // Milliseconds; -1 = until something comes.
    private int Patience(bool isBusy)
    {
        var calm = (int)BatchWhileBusy.Calm.TotalMilliseconds;
        foreach (var listener in _listeners)
        {
            if (listener.Pause >= 0)
            {
                return isBusy ? Math.Min(calm, listener.Pause) : listener.Pause;
            }
        }

        return isBusy ? calm : -1;
    }

    private void EndTurn()
    {
        var turn = _clock.GetTimestamp() - _turnBegan;
        Volatile.Write(ref _turnBegan, 0);
        if (turn > Volatile.Read(ref _longestTurn))
        {
            Volatile.Write(ref _longestTurn, turn);
        }
    }

    private void WorkPosted()
    {
        // No more than there are now: who posts from inside a call has to wait a turn.
        for (var left = _posted.Count; left > 0 && _posted.TryDequeue(out var work); left--)
        {
            try
            {
                if (work.Socket is { } socket)
                {
                    Work(socket, work.Work);
                }
                else
                {
                    work.Call!();
                }
            }
            catch (Exception bug)
            {
                Log.Failed(_log, bug);
                if (work.Socket is { } failed)
                {
                    Gone(failed);
                }
            }
        }
    }

    private void Work(LoopSocket socket, LoopWork work)
    {
        switch (work)
        {
            case LoopWork.Add:
                Begin(socket);
                break;
            case LoopWork.Resume:
                Resume(socket);
                break;
            case LoopWork.Close:
                Gone(socket);
                break;
        }
    }

    private void CloseAll()
    {
        WorkPosted();
        foreach (var listener in _listeners.ToArray())
        {
            listener.Dispose();
        }

        foreach (var socket in _sockets)
        {
            if (socket is not null)
            {
                Gone(socket);
            }
        }

        lock (_signaling)
        {
            _hasEnded = true;
            _ = Syscalls.Close(_event);
        }

        _ = Syscalls.Close(Epoll);
    }

    private static partial class Log
    {
        [LoggerMessage(1, LogLevel.Error, "A connection's protocol failed; the connection is dropped.", EventName = "LoopClientFailed")]
        public static partial void Failed(ILogger logger, Exception exception);
    }
}
