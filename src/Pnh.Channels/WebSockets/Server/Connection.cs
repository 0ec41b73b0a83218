using Pnh.Channels.Net.Epoll;
using Pnh.Channels.WebSockets.Sessions;
using Pnh.Core.Sessions;

namespace Pnh.Channels.WebSockets.Server;

/// <summary>
/// What every kind of connection is, however its bytes go: one writer at a time, who exists only while there is something to write, control
/// frames before the session's frames, and the close last. The thread that wakes an idle connection becomes its writer for a few frames: a hop to
/// another thread would cost more than the send. Thread-safe; nothing waits.
/// </summary>
internal abstract partial class Connection : ISessionTransport, IIdleConnection, IThreadPoolWorkItem
{
    /// <summary>Frames that a sender writes before another thread takes over, so that nobody is another's writer for long.</summary>
    protected const int InlineFrames = 16;

    /// <summary>Control frames that may wait. Only a client that sends and never reads gets there.</summary>
    private const int MaxControls = 64;

    private readonly Lock _gate = new();
    private volatile Session? _session;
    private volatile Queue<byte[]>? _controls;
    private volatile SessionClose? _closing;
    private volatile bool _finished;
    private int _writing;

    /// <summary>What a writer does next.</summary>
    protected enum Next
    {
        /// <summary>Give the role back.</summary>
        Nothing,

        /// <summary>A frame of the connection itself.</summary>
        Control,

        /// <summary>A frame of the session.</summary>
        Frame,

        /// <summary>The close frame; the thread that writes it stays the writer, since nothing follows it.</summary>
        Close,
    }

    /// <summary>
    /// The session that is its own, from before the welcome leaves, so that a client that was welcomed is listed; null before hello, and when the session went on
    /// to another connection.
    /// </summary>
    public Session? Session => _conversation.Opened is { } session && session.IsCarriedBy(this) ? session : null;

    /// <summary>Where it is in the server's table; -1 = it has not been there yet. Written by the table.</summary>
    internal int Place { get; set; } = -1;

    /// <summary>True once the close was decided.</summary>
    protected bool IsClosing => _closing is not null;

    /// <summary>True when nothing can be written any more.</summary>
    protected bool IsFinished => _finished;

    /// <summary>Why it closes; null = it does not.</summary>
    protected SessionClose? Closing => _closing;

    /// <summary>True once it carries a session, from after the welcome on.</summary>
    protected bool IsCarrying => _session is not null;

    /// <inheritdoc/>
    public void Carry(Session session, DateTimeOffset until)
    {
        Volatile.Write(ref _untilTicks, until.UtcTicks);
        LookSoon();
        _session = session;
        if (IsClosing)
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false); // the close came before the session and could not end it
        }
        else
        {
            Wake();
        }
    }

    /// <inheritdoc/>
    public abstract bool TryWrite(in Outgoing next);

    /// <inheritdoc/>
    public void Wake()
    {
        if (TryTakeRole())
        {
            Write();
        }
    }

    /// <inheritdoc/>
    public void SendControl(byte[] frame)
    {
        bool full;
        lock (_gate)
        {
            if (_closing is not null)
            {
                return;
            }

            var controls = _controls ??= new Queue<byte[]>(1);
            full = controls.Count >= MaxControls;
            if (!full)
            {
                controls.Enqueue(frame);
            }
        }

        if (full)
        {
            Close(SessionClose.SlowConsumer);
        }
        else
        {
            Wake();
        }
    }

    /// <inheritdoc/>
    public void Close(SessionClose reason)
    {
        // On the pool: a sender may hold its shard's lock, and the hub must hear of the end.
        if (TryBeginClose(reason))
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    /// <summary>The second half of <see cref="Close"/>; also writes for a sender that may not.</summary>
    public void Execute()
    {
        if (IsClosing)
        {
            EndSession();
        }

        Wake();
    }

    /// <summary>Drops the TCP connection; what waits for it goes on.</summary>
    public abstract void Abort();

    /// <summary>Writes until nothing is left, or hands the role on. By the thread with the role; never throws.</summary>
    protected abstract void Write();

    /// <summary>Decides the close; false = it was decided before, and that reason stands.</summary>
    protected bool TryBeginClose(SessionClose reason)
    {
        lock (_gate)
        {
            if (_closing is not null)
            {
                return false;
            }

            _closingSince = Parts.Clock.GetTimestamp();
            _closing = reason;
            Parts.Closes.Count(reason);
            LookSoon();
            return true;
        }
    }

    /// <summary>Nothing more is written.</summary>
    protected virtual void Finish() => _finished = true;
}
