using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// One TCP connection of a <see cref="SocketLoop"/>. Sending, pausing and closing are thread-safe and never wait; the descriptor is closed by
/// the loop's thread only, under the lock that every send takes (its own: an object less to wait for), so that no byte goes to a connection that got its
/// number. Holds no buffer while nothing is left over.
/// </summary>
internal sealed class LoopSocket : ConnectionPermit
{
    /// <summary>Pieces that are copied together: sendmsg(2) costs 0.15 µs more than send(2), and a copy of this size less.</summary>
    private const int CopiedBytes = 1024;

    private int _descriptor;
    private int _awaited = Syscalls.EpollIn;
    private bool _isClosing;
    private LeftOver _rest;

    /// <param name="loop">Who serves it.</param>
    /// <param name="descriptor">The connection, its own from now on.</param>
    /// <param name="client">Who speaks on it.</param>
    /// <param name="budget">That let it in; null = it is not counted.</param>
    /// <param name="address">Whom it counts for; 0 = nobody.</param>
    public LoopSocket(SocketLoop loop, int descriptor, ILoopClient client, ConnectionBudget? budget = null, ulong address = 0)
        : base(budget, address)
    {
        Loop = loop;
        _descriptor = descriptor;
        Client = client;
    }

    /// <summary>The loop that serves it.</summary>
    public SocketLoop Loop { get; }

    /// <summary>Who speaks on it; changed by the loop's thread only.</summary>
    public ILoopClient Client { get; set; }

    /// <summary>What arrived and was not used up; the loop's own.</summary>
    internal ref LeftOver Rest => ref _rest;

    /// <summary>Where the peer is; null = already gone.</summary>
    public IPEndPoint? RemoteEndPoint
    {
        get
        {
            lock (this)
            {
                return _descriptor < 0 ? null : PeerAddress.Of(_descriptor);
            }
        }
    }

    /// <summary>How long ago the peer's machine last acknowledged bytes of ours, whatever its program does; null = unknown, or gone.</summary>
    public TimeSpan? LastAck
    {
        get
        {
            lock (this)
            {
                return _descriptor >= 0 && Syscalls.LastAck(_descriptor) is >= 0 and var ago ? TimeSpan.FromMilliseconds(ago) : null;
            }
        }
    }

    /// <summary>How many bytes the kernel took: 0 = no room now, -1 = the connection is gone, or going. Never waits.</summary>
    public unsafe int Send(ReadOnlySpan<byte> bytes)
    {
        lock (this)
        {
            if (_descriptor < 0 || _isClosing)
            {
                return -1;
            }

            fixed (byte* start = bytes)
            {
                return Sent(Syscalls.Send(_descriptor, start, (nuint)bytes.Length, Syscalls.SendNow));
            }
        }
    }

    /// <summary>The same for two pieces that belong together, in one call.</summary>
    public int Send(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second) =>
        first.Length + second.Length <= CopiedBytes ? SendCopied(first, second) : SendBoth(first, second);

    [SkipLocalsInit]
    private int SendCopied(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        Span<byte> whole = stackalloc byte[CopiedBytes];
        first.CopyTo(whole);
        second.CopyTo(whole[first.Length..]);
        return Send(whole[..(first.Length + second.Length)]);
    }

    private unsafe int SendBoth(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        lock (this)
        {
            if (_descriptor < 0 || _isClosing)
            {
                return -1;
            }

            fixed (byte* one = first, two = second)
            {
                var pieces = stackalloc Syscalls.Piece[2];
                pieces[0] = new Syscalls.Piece { Start = one, Length = (nuint)first.Length };
                pieces[1] = new Syscalls.Piece { Start = two, Length = (nuint)second.Length };
                var message = new Syscalls.Message { Pieces = pieces, PieceCount = 2 };
                return Sent(Syscalls.SendMessage(_descriptor, &message, Syscalls.SendNow));
            }
        }
    }

    /// <summary>Asks for one <see cref="ILoopClient.HasRoom"/>, which comes at once if there is room.</summary>
    public void AwaitRoom() => Await(add: Syscalls.EpollOut, remove: 0);

    /// <summary>Leaves what arrives in the kernel, which makes the peer wait.</summary>
    public void PauseReading() => Await(add: 0, remove: Syscalls.EpollIn);

    /// <summary>Reads again, from the loop's next turn on; what was left over is given to the client first, before an end could be seen.</summary>
    public void ResumeReading() => Loop.Post(this, LoopWork.Resume);

    /// <summary>Closes after what was sent; <see cref="ILoopClient.Closed"/> follows. Nothing more is sent or received.</summary>
    public void Close() => BeginClose(abort: false);

    /// <summary>Resets the connection; <see cref="ILoopClient.Closed"/> follows.</summary>
    public void Abort() => BeginClose(abort: true);

    /// <summary>
    /// Ends sending but goes on receiving, so that the peer has read everything before it is gone (RFC 9112 section 9.6). The client closes.
    /// </summary>
    public void EndSending()
    {
        lock (this)
        {
            if (_descriptor >= 0 && !_isClosing)
            {
                _ = Syscalls.Shutdown(_descriptor, Syscalls.ShutdownWrite);
            }
        }
    }

    /// <summary>
    /// Gives the connection away: the loop knows it no more and calls nobody. What the client had not used up is the caller's to pass on. By the
    /// loop's thread, from inside <see cref="ILoopClient.Receive"/>; null = it is gone. Its place among all connections is the caller's to give on or back.
    /// </summary>
    public Socket? Detach()
    {
        lock (this)
        {
            if (_descriptor < 0 || _isClosing)
            {
                return null;
            }

            var descriptor = _descriptor;
            _descriptor = -1;
            Loop.Forget(descriptor);
            return new Socket(new SafeSocketHandle(descriptor, ownsHandle: true));
        }
    }

    /// <summary>Asks who speaks on it.</summary>
    public override GiveUp TryGiveUp(bool alsoKnown) => (Client as IIdleConnection)?.TryGiveUp(alsoKnown) ?? GiveUp.Busy;

    /// <summary>The descriptor for the loop's own calls; -1 = gone.</summary>
    internal int Descriptor => Volatile.Read(ref _descriptor);

    /// <summary>True while what arrives is wanted.</summary>
    internal bool IsReading => (Volatile.Read(ref _awaited) & Syscalls.EpollIn) != 0 && !Volatile.Read(ref _isClosing);

    /// <summary>The loop's thread: reading is wanted again.</summary>
    internal void ReadAgain() => Await(add: Syscalls.EpollIn, remove: 0);

    /// <summary>Room was found: asked for once, told once.</summary>
    internal void RoomFound() => Await(add: 0, remove: Syscalls.EpollOut);

    /// <summary>The loop's thread: gone from now on.</summary>
    internal bool CloseNow()
    {
        lock (this)
        {
            if (_descriptor < 0)
            {
                return false;
            }

            var descriptor = _descriptor;
            _descriptor = -1;
            _isClosing = true;
            Loop.Forget(descriptor);
            _ = Syscalls.Close(descriptor);
            Rest.Clear();
        }

        LeaveBudget(); // outside the lock: the budget asks connections under its own
        return true;
    }

    private void BeginClose(bool abort)
    {
        lock (this)
        {
            if (_descriptor < 0 || (_isClosing && !abort))
            {
                return;
            }

            if (abort)
            {
                Syscalls.ResetOnClose(_descriptor);
            }

            if (_isClosing)
            {
                return;
            }

            _isClosing = true;
        }

        Loop.Post(this, LoopWork.Close);
    }

    private void Await(int add, int remove)
    {
        lock (this)
        {
            var awaited = (_awaited | add) & ~remove;
            if (_descriptor >= 0 && awaited != _awaited)
            {
                _awaited = awaited;
                _ = Syscalls.Control(Loop.Epoll, Syscalls.EpollModify, _descriptor, awaited);
            }
        }
    }

    private static int Sent(nint result)
    {
        if (result >= 0)
        {
            return (int)result;
        }

        return Syscalls.Errno is Syscalls.Again or Syscalls.Interrupted ? 0 : -1;
    }
}
