namespace Pnh.Core.Intake;

/// <summary>The garbage collector's heap, as far as <see cref="MemoryGuard"/> asks for it. For one caller at a time.</summary>
internal interface IHeap
{
    /// <summary>How many collections there were, of any generation. Costs some ns: nothing is known anew until it changes.</summary>
    int Collections { get; }

    /// <summary>What the last collection left. Allocates; costs some us.</summary>
    HeapReading Read();

    /// <summary>Starts a collection of everything in the background, and does not wait for it.</summary>
    void CollectBehind();
}

/// <summary>What a collection left.</summary>
/// <param name="Live">Bytes of objects, without the gaps between them. What died in the oldest generation since its own last collection is still among them.</param>
/// <param name="Limit">Bytes that the heap may have: <c>DOTNET_GCHeapHardLimit</c>, three quarters of a container's limit, or the machine's memory.</param>
/// <param name="FullCollections">A number that changes when a collection of the oldest generation has ended.</param>
internal readonly record struct HeapReading(long Live, long Limit, long FullCollections);

/// <summary>The heap of this process.</summary>
internal sealed class ProcessHeap : IHeap
{
    public int Collections => GC.CollectionCount(0);

    public HeapReading Read()
    {
        var last = GC.GetGCMemoryInfo(GCKind.Any);
        var full = Math.Max(GC.GetGCMemoryInfo(GCKind.FullBlocking).Index, GC.GetGCMemoryInfo(GCKind.Background).Index);
        return new HeapReading(last.HeapSizeBytes - last.FragmentedBytes, last.TotalAvailableMemoryBytes, full);
    }

    public void CollectBehind() => GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: false);
}
