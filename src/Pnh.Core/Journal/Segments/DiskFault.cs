using Pnh.Core.Devices;

namespace Pnh.Core.Journal.Segments;

/// <summary>What callers hear of a fault of the disk: what happened and what to do, in one line.</summary>
internal static class DiskFault
{
    public const int NoSpace = 28;
    public const int Invalid = 22;
    public const int NotSupported = 95;
    private const int Quota = 122;
    private const int ReadOnly = 30;

    // ERROR_DISK_FULL as an HRESULT.
    private const int WindowsNoSpace = unchecked((int)0x80070070);

    public static StoreUnavailableException NotWritten(IOException fault) => new(
        fault.HResult switch
        {
            NoSpace or Quota or WindowsNoSpace => "No space left for the journal: free space on the disk of the data folder; the hub goes on by itself.",
            ReadOnly => "The disk of the data folder is read-only: check it; the hub goes on by itself when it can be written.",
            _ => $"The disk failed under the journal ({fault.Message.TrimEnd('.')}): check the disk of the data folder.",
        },
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
