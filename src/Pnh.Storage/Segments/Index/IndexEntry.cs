using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Index;

/// <summary>What memory holds of an event: 24 bytes. Records begin at multiples of 8, which leaves three bits of the root free.</summary>
internal readonly struct IndexEntry
{
    private const long FinishedBit = 1;
    private const long CarriedBit = 2;

    private readonly long _root;

    public IndexEntry(ulong hash, long root, long head, bool isFinished = false, bool isCarried = false)
    {
        Hash = hash;
        _root = root | (isFinished ? FinishedBit : 0) | (isCarried ? CarriedBit : 0);
        Head = head;
    }

    public ulong Hash { get; }

    /// <summary>Where its body stands.</summary>
    public long Root => _root & -Record.Alignment;

    /// <summary>Its newest record; from there each names the one before, down to the root.</summary>
    public long Head { get; }

    public bool IsFinished => (_root & FinishedBit) != 0;

    /// <summary>Its body was moved out of a removed segment.</summary>
    public bool IsCarried => (_root & CarriedBit) != 0;

    public bool IsEmpty => _root == 0;

    public IndexEntry WithHead(long head) => new(Hash, Root, head, IsFinished, IsCarried);

    public IndexEntry Finished() => new(Hash, Root, Head, true, IsCarried);
}
