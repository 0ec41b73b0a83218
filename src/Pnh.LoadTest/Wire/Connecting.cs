using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Pnh.Channels.Net.Epoll;

namespace Pnh.LoadTest.Wire;

/// <summary>The calls of Linux that a client needs besides those of the hub's own loop, whose file this project compiles too.</summary>
internal static unsafe partial class Connecting
{
    private const int Stream = 1;
    private const int NonBlocking = 0x800;
    private const int CloseOnExec = 0x80000;
    private const int SolSocket = 1;
    private const int SoError = 4;
    private const int IpProtoTcp = 6;
    private const int TcpNoDelay = 1;
    private const int IpProtoIp = 0;
    private const int IpBindAddressNoPort = 24;
    private const int InProgress = 115;

    /// <summary>A connection that is on its way: writable when it stands or has failed. -1 = see errno.</summary>
    /// <param name="server">Address (IPv4) and port.</param>
    /// <param name="from">Local address; null = any. One address has some 28,000 ports.</param>
    public static int Begin(IPEndPoint server, IPAddress? from)
    {
        var descriptor = socket((int)AddressFamily.InterNetwork, Stream | NonBlocking | CloseOnExec, 0);
        if (descriptor < 0)
        {
            return -1;
        }

        var on = 1;
        _ = setsockopt(descriptor, IpProtoTcp, TcpNoDelay, &on, sizeof(int));
        var address = stackalloc byte[16];
        if (from is not null)
        {
            _ = setsockopt(descriptor, IpProtoIp, IpBindAddressNoPort, &on, sizeof(int));
            Write(address, from, 0);
            _ = bind(descriptor, address, 16);
        }

        Write(address, server.Address, server.Port);
        if (connect(descriptor, address, 16) < 0 && Syscalls.Errno != InProgress)
        {
            _ = Syscalls.Close(descriptor);
            return -1;
        }

        return descriptor;
    }

    /// <summary>Whether it came to stand.</summary>
    public static bool Stands(int descriptor)
    {
        int error, length = sizeof(int);
        return getsockopt(descriptor, SolSocket, SoError, &error, &length) == 0 && error == 0;
    }

    // struct sockaddr_in: family in the machine's order, port and address in the network's.
    private static void Write(byte* target, IPAddress address, int port)
    {
        var bytes = new Span<byte>(target, 16);
        bytes.Clear();
        BinaryPrimitives.WriteUInt16LittleEndian(bytes, 2);
        BinaryPrimitives.WriteUInt16BigEndian(bytes[2..], (ushort)port);
        address.TryWriteBytes(bytes[4..], out _);
    }

    [LibraryImport("libc", SetLastError = true)]
    private static partial int socket(int family, int type, int protocol);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int bind(int descriptor, byte* address, int length);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int connect(int descriptor, byte* address, int length);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int setsockopt(int descriptor, int level, int option, void* value, int length);

    [LibraryImport("libc", SetLastError = true)]
    private static partial int getsockopt(int descriptor, int level, int option, void* value, int* length);
}
