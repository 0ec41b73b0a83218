using System.Runtime.InteropServices;

namespace Pnh.Channels.Net.Epoll;

/// <summary>
/// The few calls of Linux that a loop needs (man pages epoll(7), accept4(2), sendmsg(2), eventfd(2)). The framework's <c>Socket</c> has no
/// non-blocking way to wait for many of them at once, and a send through it costs some 0.3 µs of checks. Negative = see <see cref="Errno"/>.
/// </summary>
internal static unsafe partial class Syscalls
{
    public const int EpollIn = 0x1;
    public const int EpollOut = 0x4;
    public const int EpollError = 0x8;
    public const int EpollHangup = 0x10;
    public const int EpollAdd = 1;
    public const int EpollDelete = 2;
    public const int EpollModify = 3;
    public const int Again = 11;
    public const int Interrupted = 4;
    public const int ConnectionAborted = 103;
    public const int TooManyFiles = 24;
    public const int TooManyFilesInSystem = 23;

    /// <summary>MSG_DONTWAIT | MSG_NOSIGNAL.</summary>
    public const int SendNow = 0x40 | 0x4000;

    /// <summary>MSG_DONTWAIT.</summary>
    public const int ReceiveNow = 0x40;

    /// <summary>SHUT_WR.</summary>
    public const int ShutdownWrite = 1;

    private const int CloseOnExec = 0x80000;
    private const int NonBlocking = 0x800;
    private const int SolSocket = 1;
    private const int SoLinger = 13;
    private const int IpProtoTcp = 6;
    private const int TcpNoDelay = 1;
    private const int TcpInfo = 11;

    // struct tcp_info (linux/tcp.h): eight bytes, then 32-bit fields; the 13th is tcpi_last_ack_recv, in ms.
    private const int TcpInfoLastAck = 56;

    /// <summary>Why the last call of this thread failed.</summary>
    public static int Errno => Marshal.GetLastPInvokeError();

    public static int CreateEpoll() => epoll_create1(CloseOnExec);

    public static int CreateEvent() => eventfd(0, CloseOnExec | NonBlocking);

    /// <summary>Adds, changes or removes what is waited for on a descriptor, which also names it in the answers.</summary>
    public static int Control(int epoll, int operation, int descriptor, int events) => EpollRecord.Control(epoll, operation, descriptor, events);

    /// <summary>A new connection, non-blocking, without delay of small segments.</summary>
    public static int Accept(int listener)
    {
        var accepted = accept4(listener, null, null, CloseOnExec | NonBlocking);
        if (accepted >= 0)
        {
            var on = 1;
            _ = setsockopt(accepted, IpProtoTcp, TcpNoDelay, &on, sizeof(int));
        }

        return accepted;
    }

    /// <summary>Lets the next close reset the connection instead of delivering what waits.</summary>
    public static void ResetOnClose(int descriptor)
    {
        var linger = stackalloc int[2];
        linger[0] = 1;
        linger[1] = 0;
        _ = setsockopt(descriptor, SolSocket, SoLinger, linger, 2 * sizeof(int));
    }

    /// <summary>How long ago the peer's machine last acknowledged something, in milliseconds; negative = unknown (tcp(7), TCP_INFO).</summary>
    public static int LastAck(int descriptor)
    {
        var info = stackalloc byte[TcpInfoLastAck + sizeof(int)];
        var length = TcpInfoLastAck + sizeof(int);
        return getsockopt(descriptor, IpProtoTcp, TcpInfo, info, &length) == 0 && length == TcpInfoLastAck + sizeof(int) ? *(int*)(info + TcpInfoLastAck) : -1;
    }

    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(int descriptor, byte* buffer, nuint length, int flags);

    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    public static partial nint Send(int descriptor, byte* buffer, nuint length, int flags);

    [LibraryImport("libc", EntryPoint = "sendmsg", SetLastError = true)]
    public static partial nint SendMessage(int descriptor, Message* message, int flags);

    [LibraryImport("libc", EntryPoint = "shutdown", SetLastError = true)]
    public static partial int Shutdown(int descriptor, int how);

    [LibraryImport("libc", EntryPoint = "close", SetLastError = true)]
    public static partial int Close(int descriptor);

    [LibraryImport("libc", EntryPoint = "getpeername", SetLastError = true)]
    public static partial int GetPeerName(int descriptor, byte* address, int* length);

    [LibraryImport("libc", EntryPoint = "read", SetLastError = true)]
    public static partial nint Read(int descriptor, ulong* value, nuint length);

    [LibraryImport("libc", EntryPoint = "write", SetLastError = true)]
    public static partial nint Write(int descriptor, ulong* value, nuint length);

    [LibraryImport("libc", EntryPoint = "epoll_wait", SetLastError = true)]
    public static partial int Wait(int epoll, byte* records, int count, int milliseconds);

    [LibraryImport("libc", SetLastError = true)]
    internal static partial int epoll_ctl(int epoll, int operation, int descriptor, byte* record);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int epoll_create1(int flags);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int eventfd(uint initial, int flags);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int accept4(int listener, void* address, void* length, int flags);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int getsockopt(int descriptor, int level, int option, void* value, int* length);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int setsockopt(int descriptor, int level, int option, void* value, int length);

    /// <summary>struct iovec.</summary>
    public struct Piece
    {
        public byte* Start;
        public nuint Length;
    }

    /// <summary>struct msghdr of glibc and of musl on 64-bit little-endian machines.</summary>
    public struct Message
    {
        public void* Name;
        public nuint NameLength;
        public Piece* Pieces;
        public nuint PieceCount;
        public void* Control;
        public nuint ControlLength;
        public nint Flags;
    }
}
