using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics.X86;

namespace Pnh.Core.Threads;

/// <summary>
/// Asks the processor for memory that is about to be used, so that several misses of its cache are waited for together. A hint: never waits, never faults, and
/// does nothing where there is no such instruction for .NET (Arm). Thread-safe.
/// </summary>
public static class Prefetch
{
    private const int LineBytes = 64;

    /// <summary>The item, of 64 bytes at most, wherever it lies.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Item<T>(ref readonly T target)
        where T : unmanaged
    {
        if (Sse.IsSupported)
        {
            // The collector may move it meanwhile, as below.
            var start = (byte*)Unsafe.AsPointer(ref Unsafe.AsRef(in target));
            Sse.Prefetch0(start);
            Sse.Prefetch0(start + sizeof(T) - 1);
        }
    }

    /// <summary>The first <paramref name="lines"/> lines of 64 bytes from the object's start on; null = none. What lies behind a small object is fetched too.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static unsafe void Object(object? target, int lines)
    {
        if (Sse.IsSupported)
        {
            // The collector may move the object meanwhile: then this fetched what nobody needs.
            var start = (byte*)Unsafe.As<object?, nint>(ref target);
            for (var line = 0; line < lines; line++)
            {
                Sse.Prefetch0(start + (line * LineBytes));
            }
        }
    }
}
