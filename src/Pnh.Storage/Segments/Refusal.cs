using Pnh.Core.Stores;

namespace Pnh.Storage.Segments;

/// <summary>
/// Whether events are refused because the disk takes nothing, and when that is tried again: publishers are asked to stay away meanwhile, so nobody else would find out
/// that it takes them again. For the writer's thread, but for <see cref="Fault"/>.
/// </summary>
internal sealed class Refusal(TimeProvider time)
{
    private static readonly TimeSpan TryEvery = TimeSpan.FromSeconds(1);

    private StoreUnavailableException? _fault;
    private long _triedAt;

    /// <summary>Why; null = they are taken. Any thread may ask.</summary>
    public StoreUnavailableException? Fault => Volatile.Read(ref _fault);

    /// <summary>The last segment is full, and there was no room for another.</summary>
    public bool LacksSegment { get; set; }

    /// <summary>What was found: refused, or (<paramref name="isWritten"/>) taken again.</summary>
    public void Note(Exception? fault, bool isWritten)
    {
        if (fault is StoreUnavailableException refusal)
        {
            Volatile.Write(ref _fault, refusal);
        }
        else if (isWritten)
        {
            Volatile.Write(ref _fault, null);
        }
    }

    /// <summary>True once a second while events are refused.</summary>
    public bool IsDue()
    {
        if (_fault is null || time.GetElapsedTime(_triedAt) < TryEvery)
        {
            return false;
        }

        _triedAt = time.GetTimestamp();
        return true;
    }
}
