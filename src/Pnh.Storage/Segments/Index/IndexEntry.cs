using Pnh.Storage.Segments.Format;

namespace Pnh.Storage.Segments.Index;

/// <summary>What memory holds of an event: 24 bytes. Records begin at multiples of 8, which leaves three bits of the root and of the head free.</summary>
internal readonly struct IndexEntry
{
    private const long FinishedBit = 1;
    private const long CarriedBit = 2;
    private const long RestedBit = 4;
    private const long MailBit = 1; // of the head

    private readonly long _root;
    private readonly long _head;

    public IndexEntry(ulong hash, long root, long head, bool isFinished = false, bool isCarried = false)
        => (Hash, _root, _head) = (hash, root | (isFinished ? FinishedBit : 0) | (isCarried ? CarriedBit : 0), head);

    public ulong Hash { get; }

    /// <summary>Where its body stands.</summary>
    public long Root => _root & -Record.Alignment;

    /// <summary>Its newest record; from there each names the one before, down to the root.</summary>
    public long Head => _head & -Record.Alignment;

    public bool IsFinished => (_root & FinishedBit) != 0;

    /// <summary>Its body was moved out of a removed segment.</summary>
    public bool IsCarried => (_root & CarriedBit) != 0;

    /// <summary>Nothing of it is under way: a start leaves it where it is.</summary>
    public bool IsRested => (_root & RestedBit) != 0;

    /// <summary>Something of it rests for a device, or did.</summary>
    public bool HasMail => (_head & MailBit) != 0;

    public bool IsEmpty => _root == 0;

    /// <summary>True when an id need not be recognised any more: past the retention and, unless it is finished, past its TTL. All in UTC ticks.</summary>
    public static bool IsOver(long acceptedAt, long expiresAt, bool isFinished, TimeSpan retention, long now) =>
        now - acceptedAt >= retention.Ticks && (isFinished || now >= expiresAt);

    public IndexEntry WithHead(long head) => With(_root, head | (_head & MailBit));

    public IndexEntry Finished() => With(_root | FinishedBit, _head);

    public IndexEntry Rested() => With(_root | RestedBit, _head);

    public IndexEntry WithMail() => With(_root, _head | MailBit);

    /// <summary>The copy of it that stands there.</summary>
    public IndexEntry CarriedTo(long root, long head) => With(root | CarriedBit | (_root & RestedBit), head | (_head & MailBit));

    // Bits and all.
    private IndexEntry With(long root, long head) => new(Hash, root, head);
}
