using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Pnh.Channels.Net.Epoll;

/// <summary>struct epoll_event: the kernel packs it to 12 bytes on x64 only; elsewhere its data stands at 8 of 16.</summary>
internal static unsafe class EpollRecord
{
    /// <summary>Bytes of one record.</summary>
    public static readonly int Size = RuntimeInformation.ProcessArchitecture == Architecture.X64 ? 12 : 16;

    private static readonly int DataOffset = Size - sizeof(long);

    public static int Control(int epoll, int operation, int descriptor, int events)
    {
        var record = stackalloc byte[16];
        Unsafe.WriteUnaligned(record, events);
        Unsafe.WriteUnaligned(record + DataOffset, (long)descriptor);
        return Syscalls.epoll_ctl(epoll, operation, descriptor, record);
    }

    public static int Events(byte* record) => Unsafe.ReadUnaligned<int>(record);

    public static int Descriptor(byte* record) => (int)Unsafe.ReadUnaligned<long>(record + DataOffset);
}
