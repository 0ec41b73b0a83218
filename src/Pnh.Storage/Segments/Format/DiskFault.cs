using Pnh.Core.Stores;
using Pnh.Storage.Files;

namespace Pnh.Storage.Segments.Format;

/// <summary>What callers hear of a fault of the disk: what happened and what to do, in one line.</summary>
internal static class DiskFault
{
    public const int Invalid = 22;
    public const int NotSupported = 95;

    public static StoreUnavailableException NotWritten(IOException fault) => new(
        FileFault.Advice(fault, "the journal") is { } advice
            ? advice + "; the hub goes on by itself."
            : $"The disk failed under the journal ({FileFault.Text(fault)}): check the disk of the data folder.",
        fault);

    public static StoreUnavailableException NotSynced(IOException fault) =>
        new("The disk did not confirm what was written to the journal: check the disk, then restart the hub.", fault);

    public static StoreUnavailableException Unreadable(long position) =>
        new($"The journal is damaged at {SegmentSet.FileName(Position.Segment(position))}, offset {Position.Offset(position)}: "
            + "check the disk, then restart the hub with Pnh:Journal:OnDamage=Quarantine to go on without it.")
        {
            IsDamage = true,
        };

    public static StoreUnavailableException Overloaded() =>
        new("More is being written than the disk takes: send slower, or give the data folder a faster disk.");

    public static StoreUnavailableException Stopping() =>
        new("The hub is shutting down: send it again to another node or after the restart.");
}
